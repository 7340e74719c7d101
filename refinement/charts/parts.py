"""What charts are made of: what is given, and what is drawn."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

_UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Series:
    """One line with a value or None for each round. Slot 0 uses the text colour."""

    name: str
    values: Sequence[Decimal | None]
    slot: int
    strong: bool = False
    # The smallest real difference of its values: bands of half of it that overlap show no difference.
    band: Decimal | None = None
    band_until: int | None = None  # the index from which there is no band; None for all


@dataclass(frozen=True, slots=True)
class Band:
    """The noise around a line, as the points of a polygon."""

    slot: int
    colour: str
    points: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at a round. The kind is best, score, people, penalty, signal, noise, cut, split or board.

    `split` says that judges disagree; `board` draws a line before the round with which a board took over;
    `people` stands at its own value.
    """

    kind: str
    index: int  # of the round, from 0
    words: str = ""
    series: int = 0  # index of the line
    value: Decimal | None = None  # if it is not that of the line


@dataclass(frozen=True, slots=True)
class Dot:
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Line:
    """A drawn line. Missing values split it into pieces."""

    name: str
    slot: int
    strong: bool
    colour: str
    dash: str
    pieces: tuple[str, ...]
    dots: tuple[Dot, ...]
    legend_x: str
    legend_y: str

    @property
    def dots_path(self) -> str:
        """All dots as one path, to be drawn with round ends."""
        return "".join(f"M{dot.x} {dot.y}h0" for dot in self.dots)


@dataclass(frozen=True, slots=True)
class Placed:
    """A mark with its position and its text."""

    kind: str
    x: str
    y: str
    text_y: str
    text: str
    words: str
    anchor: str = "middle"
    text_x: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    x: str
    y: str
    text: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class End:
    """The name of a line where it ends, and the way from the line to it."""

    slot: int
    colour: str
    x: str
    y: str
    name: str
    score: str
    way: str


@dataclass(frozen=True, slots=True)
class Column:
    """All values of one round, for hover and keyboard access."""

    index: int
    left: str
    width: str
    x: str
    words: str
    href: str


def drawable(text: str) -> str:
    """The text without characters that XML does not allow or that change the text direction."""
    return _UNDRAWABLE.sub("\N{REPLACEMENT CHARACTER}", text)
