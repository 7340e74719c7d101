"""Fills Nunjucks templates as eval files use them: variables, filters, conditions and loops, in a sandbox.

Unlike in Wiggum's own templates, a name without a value is empty, as in the tools that the files are written
for. The names are collected, so that this can be said.
"""

import json
import re
from collections.abc import Callable, Mapping, MutableSet
from typing import Any

from jinja2 import ChainableUndefined, TemplateError
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing as jinja_missing

from refinement.evals.sources.plain import text_of

MOST_CHARS = 2_000_000
TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.S)
SIMPLE = re.compile(r"\{\{-?\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*-?\}\}")
# What Nunjucks writes otherwise than Jinja2, inside tags.
SPELLINGS = (
    (re.compile(r"!=="), "!="),
    (re.compile(r"==="), "=="),
    (re.compile(r"\s&&\s"), " and "),
    (re.compile(r"\s\|\|\s"), " or "),
    (re.compile(r"\.length\b(?!\s*\()"), "|length"),
    (re.compile(r"\{%(-?)\s*elseif\b"), r"{%\1 elif"),
    (re.compile(r"\bJSON\.stringify\("), "dump("),
    (re.compile(r"\bundefined\b"), "none"),
    (re.compile(r"(\bfor\s+\w+\s*,\s*\w+\s+in\s+)([\w.\[\]'\"]+)(\s*-?%\})"), r"\1(\2)|pairs\3"),
)


class Unfillable(ValueError):
    """A template cannot be filled. The message says why."""


class Environment(ImmutableSandboxedEnvironment):
    """No repetition by `*` or `**`, which would make enormous texts."""

    intercepted_binops = frozenset({"**", "*", "%"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if not all(isinstance(side, int | float) and abs(side) < 1e9 for side in (left, right)):
            raise SecurityError(f"{operator} works only with numbers")
        return super().call_binop(context, operator, left, right)


class Names(MutableSet[str]):
    """The names without a value, in order."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def add(self, value: str) -> None:
        self._names.setdefault(value)

    def discard(self, value: str) -> None:
        self._names.pop(value, None)

    def __contains__(self, value: object) -> bool:
        return value in self._names

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def fill(source: str, values: Mapping[str, object], missing: MutableSet[str]) -> str:
    """The filled text. Adds names without a value to `missing`. Raises Unfillable."""
    if "{{" not in source and "{%" not in source and "{#" not in source:
        return source
    if "{#" not in source and all(SIMPLE.fullmatch(tag) for tag in TAG.findall(source)):
        text = SIMPLE.sub(lambda match: _simple(match[1], values, missing), source)
        if len(text) > MOST_CHARS:
            raise Unfillable(f"the filled text is longer than {MOST_CHARS:,} characters")
        return text  # only plain variables, which is most templates
    return _filled(source, values, missing)


def _simple(name: str, values: Mapping[str, object], missing: MutableSet[str]) -> str:
    first, *rest = name.split(".")
    if first not in values:
        missing.add(first)
        return ""
    value: object = values[first]
    for part in rest:
        if part == "length" and isinstance(value, str | list):
            value = len(value)
            continue
        value = value.get(part) if isinstance(value, Mapping) else None
    return text_of(value)


def _filled(source: str, values: Mapping[str, object], missing: MutableSet[str]) -> str:
    class Unset(ChainableUndefined):
        """A name without a value is empty, and noted when printed. Missing attributes are just empty."""

        def __init__(self, hint: Any = None, obj: Any = jinja_missing, name: Any = None, *rest: Any) -> None:
            super().__init__(hint, obj, name, *rest)
            self.label = str(name) if obj is jinja_missing else ""

        def __str__(self) -> str:
            if self.label:
                missing.add(self.label)
            return ""

    def printed(value: object) -> object:
        return str(value) if isinstance(value, Unset) else text_of(value)

    environment = Environment(undefined=Unset, finalize=printed, autoescape=False, keep_trailing_newline=True)
    environment.filters.update(FILTERS)
    environment.globals = {"range": environment.globals["range"], "dump": dump}
    try:
        pieces = environment.from_string(TAG.sub(_jinja, source)).generate(dict(values))
        parts: list[str] = []
        length = 0
        for piece in pieces:
            parts.append(piece)
            length += len(piece)
            if length > MOST_CHARS:
                raise Unfillable(f"the filled text is longer than {MOST_CHARS:,} characters")
        return "".join(parts)
    except TemplateError as error:
        raise Unfillable(str(error.message or error).split(". ")[0].rstrip(".")) from None
    except (
        TypeError,
        ValueError,
        ArithmeticError,
        LookupError,
        AttributeError,
        RecursionError,
        MemoryError,
    ) as error:
        raise Unfillable(f"{error or type(error).__name__}") from None


def _jinja(tag: re.Match[str]) -> str:
    text = tag[0]
    for pattern, replacement in SPELLINGS:
        text = pattern.sub(replacement, text)
    return text


def dump(value: object, indent: object = None) -> str:
    spaces = indent if isinstance(indent, int) and 0 <= indent <= 10 else None
    try:
        return json.dumps(
            None if isinstance(value, ChainableUndefined) else value, ensure_ascii=False, indent=spaces
        )
    except TypeError:
        raise Unfillable("dump works only with data") from None


def load(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise Unfillable("load needs JSON") from None


def pairs(value: object) -> object:
    """Nunjucks goes through the keys and values of an object."""
    return list(value.items()) if isinstance(value, dict) else value


def _safe(value: object) -> object:
    return value


FILTERS: Mapping[str, Callable[..., object]] = {
    "dump": dump,
    "json": dump,
    "tojson": dump,
    "load": load,
    "safe": _safe,
    "pairs": pairs,
    "join": lambda values, separator="", key=None: separator.join(
        text_of(entry.get(key) if key and isinstance(entry, dict) else entry) for entry in values
    ),
    "nl2br": lambda value: text_of(value).replace("\n", "<br />\n"),
}
