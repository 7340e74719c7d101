"""Reads single values of a YAML file. Problems are collected with their lines."""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import StrEnum
from math import isinf
from typing import TypeVar

from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Problem, Scalar

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

MAX_DIGITS = 15  # before the point, and after it
NUMBER = re.compile(
    rf"[-+]?(?:\d{{1,{MAX_DIGITS}}}(?:\.\d{{0,{MAX_DIGITS}}})?|\.\d{{1,{MAX_DIGITS}}})\Z", re.ASCII
)
NOTHING = ("", "~", "null", "Null", "NULL")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,299})(?:\.\d{1,300})?(?:[eE][-+]?\d{1,3})?\Z", re.ASCII)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
QUOTED_CHARS = 60


class Missing:
    """A value that could not be read. The problem is already recorded."""


MISSING = Missing()


def brief(text: str) -> str:
    """A short quote from the file for a message."""
    return repr(text if len(text) <= QUOTED_CHARS else text[: QUOTED_CHARS - 1] + "…")


class Notes:
    """Collects problems while a file is read."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, line: int, message: str) -> Missing:
        self.problems.append(Problem(line, message))
        return MISSING

    def text(self, node: Node, name: str, *, most: int, needed: bool = False) -> str | Missing:
        """A text of at most `most` characters."""
        if not isinstance(node, Scalar):
            return self.add(node.line, f"{name} must be a text.")
        value = "" if node.plain and node.text in NOTHING else node.text
        if needed and not value.strip():
            return self.add(node.line, f"{name} is required.")
        if len(value) > most:
            return self.add(node.line, f"{name} has {len(value):,} characters; {most:,} are allowed.")
        if _UNSTORABLE.search(value):
            return self.add(node.line, f"{name} contains a character that cannot be stored (NUL).")
        return value

    def number(
        self, node: Node, name: str, *, places: int = MAX_DIGITS, digits: int = MAX_DIGITS
    ) -> Decimal | Missing:
        """An exact number with at most `digits` digits before the decimal point and `places` after it."""
        if not isinstance(node, Scalar) or not NUMBER.match(node.text):
            instead = f", not {brief(node.text)}" if isinstance(node, Scalar) else ""
            return self.add(node.line, f"{name} must be a number such as 0.25{instead}.")
        value = Decimal(node.text)
        if round(value, places) != value or abs(value) >= Decimal(10) ** digits:
            return self.add(
                node.line,
                f"{name} must be below {10**digits:,} and have at most {places} decimal places.",
            )
        return value

    def whole(self, node: Node, name: str, *, least: int, most: int) -> int | Missing:
        text = node.text if isinstance(node, Scalar) and NUMBER.match(node.text) else ""
        value = Decimal(text) if text else None
        if value is None or value % 1 or not least <= value <= most:
            return self.add(node.line, f"{name} must be a whole number from {least:,} to {most:,}.")
        return int(value)

    def flag(self, node: Node, name: str) -> bool | Missing:
        if isinstance(node, Scalar) and node.plain and node.text.lower() in ("true", "false"):
            return node.text.lower() == "true"
        return self.add(node.line, f"{name} must be true or false.")

    def choice(self, node: Node, name: str, kinds: type[E]) -> E | Missing:
        if isinstance(node, Scalar) and node.text in {kind.value for kind in kinds}:
            return kinds(node.text)
        instead = f", not {brief(node.text)}" if isinstance(node, Scalar) else ""
        known = ", ".join(kind.value for kind in kinds)
        return self.add(node.line, f"{name} must be one of: {known}{instead}.")

    def each(self, node: Node, name: str, read: Callable[[Node, str], T | Missing]) -> list[T] | Missing:
        """The entries of a list, without those that cannot be read."""
        if is_nothing(node):
            return []
        if not isinstance(node, Items):
            return self.add(node.line, f"{name} must be a list.")
        read_values = [read(entry, f"{name}, entry {place}") for place, entry in enumerate(node.values, 1)]
        return [value for value in read_values if not isinstance(value, Missing)]

    def record(self, node: Node, name: str, known: Mapping[str, bool]) -> Fields | Missing:
        """A mapping with known keys only. `known` maps each key to whether it is required."""
        if not isinstance(node, Fields):
            return self.add(node.line, f"{name} must be keys with values below it: {', '.join(known)}.")
        for key, line in node.lines.items():
            if key not in known:
                self.add(line, f"Unknown key {brief(key)} in {name}. Available: {', '.join(known)}.")
        missing = [key for key, needed in known.items() if needed and key not in node.values]
        if missing:
            what = "key is" if len(missing) == 1 else "keys are"
            self.add(node.line, f"In {name}, {len(missing)} {what} missing: {', '.join(missing)}.")
        return node


def is_nothing(node: Node | None) -> bool:
    return node is None or (isinstance(node, Scalar) and node.plain and node.text in NOTHING)


def as_json(node: Node) -> object:
    """The value as JSON data. Unquoted numbers, true, false and null are converted."""
    if isinstance(node, Items):
        return [as_json(entry) for entry in node.values]
    if isinstance(node, Fields):
        return {key: as_json(value) for key, value in node.values.items()}
    if not node.plain:
        return node.text
    if is_nothing(node):
        return None
    if node.text in ("true", "false"):
        return node.text == "true"
    number = json.loads(node.text) if _JSON_NUMBER.match(node.text) else None
    return node.text if number is None or isinf(number) else number


def has_unstorable(value: object) -> bool:
    """Whether the value contains text that a database cannot store."""
    if isinstance(value, str):
        return bool(_UNSTORABLE.search(value))
    if isinstance(value, dict):
        return any(has_unstorable(key) or has_unstorable(inner) for key, inner in value.items())
    return isinstance(value, list) and any(has_unstorable(inner) for inner in value)
