"""Ratings and texts as files have them, and their limits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from refinement.interchange.rubrics.yaml_reading import BadFile, Problem
from refinement.texts import storable

MAX_BYTES = 40_000_000  # of a file
MOST_RATINGS = 300_000  # scores in a file
MOST_ITEMS = 50_000  # of a label set
MOST_RATERS = 500
MOST_PROBLEMS = 200  # in a message; a wrong column would cause one for each line
MOST_TEXT_CHARS = 200_000
MOST_CHARS_TOGETHER = 60_000_000
# The same as the columns', which a test compares.
KEY_CHARS = 200
NAME_CHARS = 160
MODEL_CHARS = 200
TITLE_CHARS = 120
TASK_TYPE_CHARS = 50
REASON_CHARS = 2_000
RATING_FIELDS = ("item", "criterion", "rater", "score")
RATING_EXTRAS = ("reason", "judge", "wrong")
ITEM_FIELDS = ("item", "text", "task", "task_type")


@dataclass(frozen=True, slots=True)
class Rating:
    """One score. `judge` is the model if the rater is a judge; `wrong` if people said that the score was."""

    line: int
    item: str
    criterion: str
    rater: str
    score: Decimal
    reason: str = ""
    judge: str = ""
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class ItemText:
    """A text to score, with what it was written for."""

    line: int
    item: str
    text: str
    task: str = ""
    task_type: str = ""


@dataclass(frozen=True, slots=True)
class LabelFiles:
    """The content of a ratings file, an items file, or both. `notes` are about columns that are not used."""

    ratings: Sequence[Rating] = ()
    items: Sequence[ItemText] = ()
    notes: tuple[str, ...] = field(default=())


class BadLabels(BadFile):
    """Problems of two files, each with its line."""

    def __init__(self, ratings: Sequence[Problem] = (), items: Sequence[Problem] = ()) -> None:
        self.ratings, self.items = shortened(ratings), shortened(items)
        of_items = [Problem(one.line, f"Items: {one.message}") for one in self.items]
        super().__init__([*self.ratings, *of_items])


def shortened(problems: Sequence[Problem]) -> list[Problem]:
    """The first problems by line, and how many more there are."""
    found = sorted(set(problems))
    shown = found[:MOST_PROBLEMS]
    if more := len(found) - len(shown):
        shown.append(Problem(found[len(shown)].line, f"{more:,} more problems follow. Fix these first."))
    return shown


def name_cleaned(text: str) -> str:
    """A name as it is stored: one line."""
    return " ".join(storable(text).split())


def text_cleaned(text: str) -> str:
    """A long text as it is stored: plain line ends, and empty if it is blank."""
    plain = storable(text).replace("\r\n", "\n").replace("\r", "\n")
    return plain if plain.strip() else ""
