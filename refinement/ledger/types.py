"""A run's rounds as the ledger reads them, and what it concludes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

ISSUE, SUGGESTION, IMPROVEMENT = "issue", "suggestion", "improvement"
ADDRESSED, OPEN, CAME_BACK, WORSE, OVERTAKEN = "addressed", "open", "came_back", "worse", "overtaken"
FATES = (ADDRESSED, OPEN, CAME_BACK, WORSE, OVERTAKEN)
FOLLOWED = frozenset({ADDRESSED, CAME_BACK, WORSE})  # the writer acted on it, whatever came of it


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of a round's feedback. `position` is its place among the verdict's entries of its kind."""

    round: int
    kind: str
    position: int
    text: str
    criterion: str = ""  # of an improvement
    name: str = ""  # the criterion's name, for sentences

    @property
    def key(self) -> tuple[int, str, int]:
        return self.round, self.kind, self.position


@dataclass(frozen=True, slots=True)
class Step:
    """A round: its text, where that came from, its scores, and the feedback on it."""

    number: int
    text: str
    base: int | None = None  # the round it was written from; None for a fresh start
    asked_by: int | None = None  # the round whose feedback it was written with
    told: frozenset[str] = frozenset()  # the feedback that the writer was sent
    composite: Decimal | None = None  # None until it is judged
    scores: Mapping[str, Decimal] = field(default_factory=dict)
    items: tuple[Item, ...] = ()
    other_judge: bool = False  # a board took over: its scores do not compare with those before

    @property
    def judged(self) -> bool:
        return self.composite is not None


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of an item. `fate` is empty while no verdict on its revision is there."""

    item: Item
    fate: str
    why: str
    revision: int  # the round that was written with it
    raised: bool | None  # whether that round scored higher; None if the scores do not compare

    @property
    def followed(self) -> bool:
        return self.fate in FOLLOWED
