"""The parser rungs for JSON: strict, embedded in prose, dirtyjson and json-repair.

Neither repair library may convert numbers: dirtyjson evaluates arithmetic (7/10 becomes 0.7, and 9**9**9
never ends), and json-repair keeps the first digits of invalid numbers. Here bare numbers are passed to
validation as text.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dirtyjson.loader import DirtyJSONLoader  # type: ignore[import-untyped, unused-ignore]
from json_repair.json_parser import JSONParser

MAX_NESTING = 64
MAX_SPANS = 40
MAX_REPAIRED_CHARS = 40_000  # json-repair takes quadratic time

MARKS = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
BRACKET = re.compile(r"[{}\[\]]")
PAIRS = {"}": "{", "]": "["}
LOOKS_LIKE_JSON = re.compile(r"""[{\[]\s*(?:[{\[]|["'“]|[\w-]+["']?\s*:)""")
FENCE_END = re.compile(r"\n\s*```")
BARE_NUMBER = re.compile(
    r"[-+.]?\d(?:(?!//|/\*|\#)[^\s,}\]\"'])*"
    r"(?:,\d+(?=\s*(?:[,}\]\n]|$)))?"
    r"(?:\s*/(?![/*])\s*\d[\d.]*|\s+(?:out\s+of|of|to|or|-|–)\s+\d[\d.]*(?:\s*/\s*\d[\d.]*)?)?",
)
BARE_WORD = re.compile(r"[^\s,}\]\"':]+")
CONSTANTS = {"true": True, "false": False, "null": None, "none": None}


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the reply that may be JSON. It is incomplete if the reply ended inside it."""

    text: str
    complete: bool


class _LiteralLoader(DirtyJSONLoader):  # type: ignore[misc, unused-ignore]
    """dirtyjson without arithmetic. A bare value is a constant or its text."""

    content: str
    pos: int
    end: int

    def scan(self) -> Any:
        if self.pos >= self.end or self.content[self.pos] in "\"'{[":
            return super().scan()
        match = BARE_NUMBER.match(self.content, self.pos) or BARE_WORD.match(self.content, self.pos)
        if match is None:
            raise ValueError(f"no value at {self.pos}")
        self.pos = match.end()
        return CONSTANTS.get(match[0].lower(), match[0])


class _LiteralParser(JSONParser):
    """json-repair that keeps bare numbers as text."""

    def parse_number(self) -> str:  # type: ignore[override, unused-ignore]
        match = BARE_NUMBER.match(str(self.json_str), self.index)
        if match is None:
            self.index += 1
            return ""
        self.index = match.end()
        return match[0]


def load_strictly(text: str) -> object:
    """The JSON value with exact numbers. Raises ValueError or RecursionError."""
    return json.loads(text, parse_float=Decimal, parse_int=Decimal, parse_constant=str)


def load_dirtily(text: str) -> object:
    """The value that dirtyjson reads. It can raise any exception."""
    return _LiteralLoader(text[:MAX_REPAIRED_CHARS]).decode()


def repair(text: str) -> object:
    """The value that json-repair reads."""
    return _LiteralParser(text[:MAX_REPAIRED_CHARS], None, False).parse()


def attempt(load: Callable[[str], object], text: str) -> object:
    """The loaded value, or None if loading fails. Third-party parsers can raise anything on hostile text."""
    if nested_too_deep(text):
        return None
    try:
        return load(text)
    except Exception:  # noqa: BLE001  the docstring says why
        return None


def nested_too_deep(text: str) -> bool:
    """Whether brackets are nested too deeply. Brackets in strings count too."""
    depth = 0
    for match in BRACKET.finditer(text):
        depth = depth + 1 if match[0] in "{[" else max(depth - 1, 0)
        if depth > MAX_NESTING:
            return True
    return False


def spans(text: str) -> list[Span]:
    """The outermost bracketed parts, last first. An unfinished part comes before the parts inside it."""
    closed, open_at = _brackets(text)
    found = [(start, Span(text[start:end], True)) for start, end in _outermost(closed)]
    for start in open_at:
        if LOOKS_LIKE_JSON.match(text, start):
            rest = FENCE_END.split(text[start:], maxsplit=1)[0]
            inside = [entry for entry in found if entry[0] > start]
            found = [entry for entry in found if entry[0] < start] + inside + [(start, Span(rest, False))]
            break
    return [span for _, span in reversed(found[-MAX_SPANS:])]


def _brackets(text: str) -> tuple[list[tuple[int, int]], list[int]]:
    """Matched brackets, and the positions of unmatched ones. Brackets in double quotes are ignored."""
    stack: list[tuple[str, int]] = []
    closed: list[tuple[int, int]] = []
    in_string = False
    for match in MARKS.finditer(text):
        mark = match[0]
        if mark == '"' and stack:
            in_string = not in_string
        elif in_string or mark not in "{}[]":
            continue
        elif mark in "{[":
            stack.append((mark, match.start()))
        elif stack and stack[-1][0] == PAIRS[mark]:
            closed.append((stack.pop()[1], match.end()))
    return closed, [start for _, start in stack]


def _outermost(closed: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    reached = -1
    for start, end in sorted(closed):
        if start >= reached:
            reached = end
            yield start, end
