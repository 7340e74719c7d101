"""Values with intervals over time, as lines of what belongs together."""

from collections.abc import Sequence
from dataclasses import dataclass

from refinement.charts.axes import at
from refinement.charts.intervals import shared_axis

LEFT, RIGHT, TOP, BOTTOM = 40, 16, 12, 30
SERIES = 8
APART = 26.0  # points of one experiment, with the letter of each beside it


@dataclass(frozen=True, slots=True)
class Point:
    """A value in the column of one experiment."""

    column: int
    line: str
    value: float
    low: float
    high: float
    words: str
    href: str = ""
    letter: str = ""


@dataclass(frozen=True, slots=True)
class PlacedPoint:
    x: str
    y: str
    low_y: str
    high_y: str
    slot: int
    words: str
    href: str
    letter: str


@dataclass(frozen=True, slots=True)
class HistoryChart:
    width: int
    height: int
    left: int
    right: int
    bottom: int
    ticks: tuple[tuple[str, str], ...]  # y, text
    columns: tuple[tuple[str, str], ...]  # x, text
    lines: tuple[tuple[int, str], ...]  # slot, points
    points: tuple[PlacedPoint, ...]


def history_chart(
    points: Sequence[Point],
    columns: Sequence[str],
    slots: dict[str, int],
    *,
    width: int = 924,
    height: int = 280,
) -> HistoryChart | None:
    """The chart; None without points. `slots` are the lines' colours, from 1."""
    axis = shared_axis([end for point in points for end in (point.value, point.low, point.high)], most=5)
    if axis is None:
        return None
    across = (width - LEFT - RIGHT) / max(len(columns), 1)

    columns_of = {
        number: [each for each in points if each.column == number] for number in range(len(columns))
    }

    def x(point: Point) -> float:
        """Points of one experiment are next to each other."""
        beside = columns_of[point.column]
        offset = beside.index(point) - (len(beside) - 1) / 2
        return LEFT + across * (point.column + 0.5) + offset * min(APART, across / (len(beside) + 1))

    def y(value: float) -> float:
        share = (value - axis.low) / (axis.high - axis.low)
        return height - BOTTOM - share * (height - BOTTOM - TOP)

    placed = tuple(
        PlacedPoint(
            at(x(point)),
            at(y(point.value)),
            at(y(point.low)),
            at(y(point.high)),
            slot_of(slots[point.line]),
            point.words,
            point.href,
            point.letter,
        )
        for point in points
    )
    lines = tuple(
        (slot_of(slot), " ".join(f"{at(x(each))},{at(y(each.value))}" for each in own))
        for line, slot in slots.items()
        if len(own := line_points(points, line)) > 1
    )
    step = max(1, -(-len(columns) // max(1, int((width - LEFT) / 90))))
    names = tuple(
        (at(LEFT + across * (number + 0.5)), name)
        for number, name in enumerate(columns)
        if number % step == 0
    )
    ticks = tuple((at(y(float(tick.text.replace("\N{MINUS SIGN}", "-")))), tick.text) for tick in axis.ticks)
    return HistoryChart(width, height, LEFT, width - RIGHT, height - BOTTOM, ticks, names, lines, placed)


def line_points(points: Sequence[Point], line: str) -> list[Point]:
    """The points that the line joins: the first of each experiment."""
    found: dict[int, Point] = {}
    for point in points:
        if point.line == line:
            found.setdefault(point.column, point)
    return [found[column] for column in sorted(found)]


def slot_of(number: int) -> int:
    return (number - 1) % SERIES + 1
