"""Pictures of how a judge agrees with people: tracks with a band, and scores against scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import TypeAlias

from refinement.charts.axes import at
from refinement.charts.intervals import number_text

Figure: TypeAlias = Mapping[str, float | None]

EDGE = 2.0  # percent on both sides of a track
MOST_COLUMNS = 11  # of scores against scores
SIZE, LEFT, TOP, RIGHT, BOTTOM = 176, 30, 8, 12, 22
LARGEST, SMALLEST = 6.5, 1.8  # radius of a bubble


@dataclass(frozen=True, slots=True)
class Span:
    """An interval on a track, as SVG lengths."""

    x: str
    low_x: str
    high_x: str
    width: str


@dataclass(frozen=True, slots=True)
class Track:
    """A horizontal axis that the rows of a table share."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """The place of a value; those beyond an end are drawn there."""
        return f"{self._percent(value):.1f}%"

    def span(self, figure: Figure | None) -> Span | None:
        """A figure with its interval; a figure without one is a dot."""
        if not figure or figure["value"] is None:
            return None
        value = figure["value"]
        low = value if figure["low"] is None else figure["low"]
        high = value if figure["high"] is None else figure["high"]
        width = f"{self._percent(high) - self._percent(low):.1f}%"
        return Span(self.at(value), self.at(low), self.at(high), width)

    def _percent(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1.0)
        return EDGE + share * (100 - 2 * EDGE)

    def ticks(
        self, values: Sequence[float], digits: int = 1, *, signed: bool = False
    ) -> list[dict[str, str]]:
        """Labels at these values; those at an end of the axis stay inside."""
        return [
            {
                "x": self.at(value),
                "text": number_text(value, digits, signed=signed, short=True),
                "anchor": "start" if value <= self.low else "end" if value >= self.high else "middle",
            }
            for value in values
        ]


def agreement_track(figures: Sequence[Figure | None]) -> Track:
    """From 0, or below if a figure is, to 1."""
    lowest = min([0.0, *ends(figures)])
    return Track(max(-1.0, floor(lowest * 5) / 5), 1.0)


def share_track(figures: Sequence[Figure | None]) -> Track:
    """Shares: from a round tenth below all of them to 1."""
    lowest = min([1.0, *ends(figures)])
    return Track(max(0.0, min(0.8, floor(lowest * 10 - 1e-9) / 10)), 1.0)


def bias_track(figures: Sequence[Figure | None], width: float) -> Track:
    """With 0 in the middle; at least a tenth of the scale to both sides."""
    farthest = max([width / 10, *(abs(end) for end in ends(figures))])
    unit = 10.0 ** floor(_log10(farthest))
    reach = next(unit * step for step in (1, 2, 3, 5, 10) if unit * step >= farthest - 1e-9)
    return Track(-reach, reach)


def ends(figures: Sequence[Figure | None]) -> list[float]:
    return [end for figure in figures if figure for end in figure.values() if end is not None]


def _log10(value: float) -> int:
    power = 0
    while value < 10.0**power:
        power -= 1
    while value >= 10.0 ** (power + 1):
        power += 1
    return power


@dataclass(frozen=True, slots=True)
class Bubble:
    x: str
    y: str
    r: str
    far: bool
    words: str


@dataclass(frozen=True, slots=True)
class Grid:
    """Scores by people across, by the judge up; the area counts texts."""

    size: int
    left: int
    bottom: int
    right: int
    top: int
    diagonal: tuple[str, str, str, str]
    across: tuple[tuple[str, str], ...]  # place, text
    up: tuple[tuple[str, str], ...]
    bubbles: tuple[Bubble, ...]
    words: str


def score_grid(
    cells: Sequence[Sequence[float]], least: float, most: float, *, far: float, name: str
) -> Grid | None:
    """The picture; None without scores. Fine scales are put into at most 11 columns.

    A cell has people's and the judge's rounded scores, how many texts have them, and how many of these are
    `far` apart before rounding.
    """
    if not cells or most <= least:
        return None
    step = _step(most - least)
    counted = _binned(cells, least, step)
    largest = max(count for count, _ in counted.values())
    low = min(value for pair in counted for value in pair)
    high = max(value for pair in counted for value in pair)
    low, high = max(least, low - step), min(max(most, high), high + step)

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (SIZE - LEFT - RIGHT)

    def y(value: float) -> float:
        return SIZE - BOTTOM - (value - low) / (high - low) * (SIZE - BOTTOM - TOP)

    bubbles = tuple(
        Bubble(
            at(x(people)),
            at(y(judge)),
            at(max(SMALLEST, LARGEST * sqrt(count / largest))),
            apart > 0,
            _bubble_words(people, judge, count, apart, far),
        )
        for (people, judge), (count, apart) in sorted(counted.items(), key=lambda item: -item[1][0])
    )
    marks = _marks(low, high, step)
    return Grid(
        SIZE, LEFT, SIZE - BOTTOM, SIZE - RIGHT, TOP,
        (at(x(low)), at(y(low)), at(x(high)), at(y(high))),
        tuple((at(x(mark)), _text(mark)) for mark in marks),
        tuple((at(y(mark)), _text(mark)) for mark in marks),
        bubbles,
        _summary(counted, name, far),
    )  # fmt: skip


def _step(width: float) -> float:
    if width <= 2:
        return width / 10
    return 1.0 if width < MOST_COLUMNS else float(ceil(width / (MOST_COLUMNS - 1)))


def _bubble_words(people: float, judge: float, count: int, apart: int, far: float) -> str:
    words = f"people {_text(people)}, judge {_text(judge)}: {count} text{'' if count == 1 else 's'}"
    return f"{words}, {apart} of them {_text(far)} or more apart" if 0 < apart < count else words


def _binned(
    cells: Sequence[Sequence[float]], least: float, step: float
) -> dict[tuple[float, float], tuple[int, int]]:
    counted: dict[tuple[float, float], tuple[int, int]] = {}
    for people, judge, count, *apart in cells:  # older reports have three values
        pair = (_snapped(people, least, step), _snapped(judge, least, step))
        known = counted.get(pair, (0, 0))
        counted[pair] = (known[0] + int(count), known[1] + int(sum(apart)))
    return counted


def _snapped(value: float, least: float, step: float) -> float:
    return round(least + round((value - least) / step) * step, 6)


def _marks(low: float, high: float, step: float) -> list[float]:
    """Three labels: both ends and the middle."""
    steps = round((high - low) / step)
    middle = round(low + steps // 2 * step, 6)
    return sorted({round(low, 6), middle, round(high, 6)})


def _text(value: float) -> str:
    return number_text(value, 2, short=True)


def _summary(counted: Mapping[tuple[float, float], tuple[int, int]], name: str, far: float) -> str:
    texts = sum(count for count, _ in counted.values())
    same = sum(count for (people, judge), (count, _) in counted.items() if people == judge)
    apart = sum(far_texts for _, far_texts in counted.values())
    return f"{name}: {texts} texts, {same} with the same score, {apart} at least {_text(far)} apart"
