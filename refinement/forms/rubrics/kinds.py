"""What a setting of the editor is: its form name, its place in a definition, and its limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

COLUMN_LIMIT = Decimal(99_999)  # range of the scale and weight columns
COLUMN_PLACES = 4
KEPT_PLACES = 6
ANY_COUNT = Decimal(1_000_000_000)


class Kind(StrEnum):
    LINE = "line"
    TEXT = "text"
    NUMBER = "number"
    WHOLE = "whole"
    GAIN = "gain"  # a number, or the word for the judge's noise
    CHOICE = "choice"
    FLAG = "flag"
    WORDS = "words"
    COMMAND = "command"
    LINES = "lines"
    PATTERN = "pattern"
    SCHEMA = "schema"
    MODEL = "model"  # ENDPOINT/MODEL


@dataclass(frozen=True, slots=True)
class Setting:
    """A field. `path` is its place in a JSON definition; the form name is the path with hyphens."""

    path: tuple[str, ...]
    label: str
    kind: Kind
    help: str = ""
    required: bool = False
    limit: int = 200  # characters
    low: Decimal | None = None
    high: Decimal | None = None
    places: int = KEPT_PLACES
    choices: Mapping[Any, str] | None = None
    rows: int = 3
    suggestions: str = ""  # id of a datalist

    @property
    def name(self) -> str:
        return "-".join(self.path)
