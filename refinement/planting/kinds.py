"""What an edit is, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import NamedTuple, TypeAlias

from refinement.planting.documents import Document

QUOTED_CHARS = 120


class Effect(StrEnum):
    SPOILED = "spoiled"  # a judge should lower a score
    HARMLESS = "harmless"  # a judge should not
    PADDED = "padded"  # says nothing more at greater length: a judge should not raise a score


class Made(NamedTuple):
    """A copy's text, and what was changed in a sentence for people."""

    text: str
    change: str


# The document and a source of chance; None if the text has nothing to edit in this way.
Make: TypeAlias = Callable[[Document, Random], "Made | None"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One way to change a text."""

    key: str
    name: str  # of the defect, for pages
    effect: Effect
    make: Make
    nothing: str  # why a text may offer nothing to edit
    english: bool = False  # needs English words
    # Beginnings of words in the key or name of a criterion that it should hit, the best first.
    criteria: tuple[str, ...] = ()


def quoted(text: str) -> str:
    """The text on one line in quotation marks, shortened."""
    line = " ".join(text[: QUOTED_CHARS * 4].split())
    return f"“{line if len(line) <= QUOTED_CHARS else line[: QUOTED_CHARS - 1].rstrip() + '…'}”"


def listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def dose(things: int, *, one_in: int, most: int = 3) -> int:
    """How many of the things to change: more in a long text, where one alone may not matter."""
    return max(1, min(most, things // one_in, things))
