"""The scores of a board's judges for one criterion: a row per judge, on an axis that all criteria share."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from refinement.charts.axes import at, round_step
from refinement.engine.types import Scale

WIDTH = 190
SIDE = 9.0  # left and right of the axis, so that no mark is cut
ROW = 11.0
EDGE = 2.0
RADIUS = 3.6
MEDIAN_WIDTH = 9.0
AXIS_HEIGHT = 14
MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """A judge's own score, and the one that counts; None before it is final."""

    seat: int
    before: Decimal
    after: Decimal | None


@dataclass(frozen=True, slots=True)
class JudgeMark:
    """Paths of one judge: the hollow mark, the filled one, and the arrow from one to the other."""

    seat: int
    hollow: str
    filled: str
    arrow: str


@dataclass(frozen=True, slots=True)
class Tick:
    x: str
    text: str


@dataclass(frozen=True, slots=True)
class LaneAxis:
    """The scale above the lanes."""

    width: int
    height: int
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class Lane:
    """Everything the template draws for one criterion."""

    width: int
    height: str
    ticks: tuple[str, ...]
    marks: tuple[JudgeMark, ...]
    median: str  # the middle of its band; empty before there is one
    median_left: str
    median_width: str = at(MEDIAN_WIDTH)


def lane(scores: Sequence[JudgeScore], scale: Scale, median: Decimal | None) -> Lane:
    """The marks of the judges, in their order, and the median's band."""
    x = None if median is None else _x(scale, median)
    return Lane(
        width=WIDTH,
        height=at(2 * EDGE + ROW * max(1, len(scores))),
        ticks=tuple(at(_x(scale, value)) for value in _ticks(scale)),
        marks=tuple(_mark(score, scale, EDGE + ROW * (place + 0.5)) for place, score in enumerate(scores)),
        median="" if x is None else at(x),
        median_left="" if x is None else at(x - MEDIAN_WIDTH / 2),
    )


def lane_axis(scale: Scale) -> LaneAxis:
    """The axis of `lane`, with its values as text."""
    ticks = tuple(Tick(at(_x(scale, value)), f"{value.normalize():f}") for value in _ticks(scale))
    return LaneAxis(WIDTH, AXIS_HEIGHT, ticks)


def glyph(seat: int, x: float = 7.0, y: float = 7.0) -> str:
    """The path of a judge's mark. Each seat has its own shape, so that no colour is needed."""
    r = RADIUS
    shapes = (
        f"M{at(x - r)} {at(y)}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z",  # circle
        f"M{at(x - 3.2)} {at(y - 3.2)}h6.4v6.4h-6.4z",  # square
        f"M{at(x)} {at(y - 4)}l4 7h-8z",  # triangle
        f"M{at(x)} {at(y - 4.5)}l4.5 4.5l-4.5 4.5l-4.5 -4.5z",  # diamond
        f"M{at(x)} {at(y + 4)}l4 -7h-8z",  # triangle that points down
    )
    return shapes[(seat - 1) % len(shapes)]


def _mark(score: JudgeScore, scale: Scale, y: float) -> JudgeMark:
    before = _x(scale, score.before)
    if score.after is None:
        return JudgeMark(score.seat, glyph(score.seat, before, y), "", "")
    after = _x(scale, score.after)
    filled = glyph(score.seat, after, y)
    if score.after == score.before:
        return JudgeMark(score.seat, "", filled, "")
    return JudgeMark(score.seat, glyph(score.seat, before, y), filled, _arrow(before, after, y))


def _arrow(start: float, end: float, y: float) -> str:
    """From the edge of one mark to the edge of the other; none between marks that touch."""
    way = 1 if end > start else -1
    begin, tip = start + way * (RADIUS + 0.6), end - way * (RADIUS + 1.4)
    if (tip - begin) * way < 1:
        return ""
    back = tip - way * 3
    return (
        f"M{at(begin)} {at(y)}H{at(tip)}M{at(back)} {at(y - 2.4)}L{at(tip)} {at(y)}L{at(back)} {at(y + 2.4)}"
    )


def _x(scale: Scale, value: Decimal) -> float:
    inside = min(max(value, scale.minimum), scale.maximum)
    share = float((inside - scale.minimum) / (scale.maximum - scale.minimum))
    return SIDE + share * (WIDTH - 2 * SIDE)


def _ticks(scale: Scale) -> list[Decimal]:
    """Round values within the scale; a scale from 1 to 10 has 2, 4, 6, 8 and 10."""
    step = round_step((scale.maximum - scale.minimum) / (MOST_TICKS - 1))
    first = (scale.minimum / step).to_integral_value(ROUND_CEILING) * step
    ticks = [first + step * count for count in range(MOST_TICKS + 1)]
    return [value for value in ticks if scale.minimum <= value <= scale.maximum]
