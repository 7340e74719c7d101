"""A small chart of one metric by round. Its rounds are aligned with those of the trajectory."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.charts.axes import ValueAxis, at, value_axis
from refinement.charts.palette import LIGHT, Palette
from refinement.charts.parts import Dot, Label, drawable
from refinement.charts.trajectory import LEFT, MOST_DOTTED, RIGHT, right_room
from refinement.engine.scoring import shown_metric
from refinement.engine.types import MetricValue, Scale

HEIGHT = 88
TOP, BOTTOM = 24.0, 12.0  # room for the name above and half a figure below
COMPACT_FROM = Decimal(100_000)  # greater figures would not fit beside the axis
NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True)
class MetricSeries:
    """A metric with its value in each round. None: not found, or the evaluator did not run."""

    name: str
    values: Sequence[MetricValue | None]
    measured: Sequence[bool]  # whether the evaluator ran in the round
    lower_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Whisker:
    """The spread of a round's values, from the lowest to the highest."""

    x: str
    left: str
    right: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """One round, for hovering."""

    left: str
    width: str
    words: str


@dataclass(frozen=True, slots=True)
class MetricChart:
    """Everything the template draws."""

    name: str  # prefix of ids in the SVG
    width: int
    height: int
    left: str
    right: str
    top: str
    bottom: str
    title: str
    direction: str
    description: str
    grid: tuple[Label, ...]
    pieces: tuple[str, ...]
    dots: tuple[Dot, ...]
    whiskers: tuple[Whisker, ...]
    missing: tuple[Label, ...]
    columns: tuple[MetricColumn, ...]
    palette: Palette


def metric_chart(
    series: MetricSeries,
    labels: Sequence[str],
    *,
    width: int = 900,
    name: str = "metric",
    palette: Palette = LIGHT,
    ends: bool = False,
) -> MetricChart:
    """The chart's geometry. `labels` name the rounds, one for each value. `ends` as in the trajectory."""
    room = right_room(width) if ends else RIGHT
    foot = HEIGHT - BOTTOM
    axis = metric_axis([value for value in series.values if value], foot)
    between = (width - LEFT - room) / max(len(series.values), 1)
    xs = [LEFT + between * (index + 0.5) for index in range(len(series.values))]
    drawn = [(x, value) for x, value in zip(xs, series.values, strict=True) if value]
    dotted = len(drawn) <= MOST_DOTTED
    return MetricChart(
        name=name,
        width=width,
        height=HEIGHT,
        left=at(LEFT),
        right=at(width - room),
        top=at(TOP),
        bottom=at(foot),
        title=drawable(series.name),
        direction="lower is better" if series.lower_is_better else "",
        description=description(series, labels),
        grid=tuple(Label(at(LEFT - 9), at(axis.y(tick)), tick_text(tick), "end") for tick in end_ticks(axis)),
        pieces=tuple(pieces(axis, xs, series.values)),
        dots=tuple(Dot(at(x), at(axis.y(value.value))) for x, value in drawn) if dotted else (),
        whiskers=tuple(whisker(axis, x, value) for x, value in drawn if value.low != value.high),
        missing=tuple(
            Label(at(x), at(foot - 4), NOT_FOUND)
            for x, value, ran in zip(xs, series.values, series.measured, strict=True)
            if ran and value is None
        ),
        columns=tuple(
            MetricColumn(at(x - between / 2), at(between), f"{drawable(label)}: {words}")
            for x, label, words in zip(xs, labels, value_words(series), strict=True)
        )
        if dotted
        else (),
        palette=palette,
    )


def metric_axis(values: Sequence[MetricValue], foot: float) -> ValueAxis:
    """An axis around the values and their spread."""
    low = min((value.low for value in values), default=Decimal(0))
    high = max((value.high for value in values), default=Decimal(1))
    room = (high - low) or abs(high) / 10 or Decimal(1)
    return value_axis([low, high], Scale(low - room, high + room), top=TOP, bottom=foot, most=4)


def end_ticks(axis: ValueAxis) -> list[Decimal]:
    """The lowest and the highest tick: a small chart has no room for more."""
    ticks = axis.ticks
    return [ticks[0], ticks[-1]]


def tick_text(tick: Decimal) -> str:
    return f"{tick:.1e}" if abs(tick) >= COMPACT_FROM else shown_metric(tick)


def pieces(axis: ValueAxis, xs: Sequence[float], values: Sequence[MetricValue | None]) -> list[str]:
    """The line through the medians, split where a value is missing."""
    found: list[list[str]] = [[]]
    for x, value in zip(xs, values, strict=True):
        if value is None:
            found.append([])
        else:
            found[-1].append(f"{at(x)},{at(axis.y(value.value))}")
    return [" ".join(piece) for piece in found if len(piece) > 1]


def whisker(axis: ValueAxis, x: float, value: MetricValue) -> Whisker:
    return Whisker(at(x), at(x - 4), at(x + 4), at(axis.y(value.low)), at(axis.y(value.high)))


def metric_words(value: MetricValue) -> str:
    """The median and, if the command ran several times, the spread: 0.83 (0.8 to 0.9)."""
    spread = f" ({shown_metric(value.low)} to {shown_metric(value.high)})" if len(value.values) > 1 else ""
    return f"{shown_metric(value.value)}{spread}"


def value_words(series: MetricSeries) -> list[str]:
    """Each round's value in words; not measured if the evaluator did not run."""
    return [
        metric_words(value) if value else NOT_FOUND if ran else "not measured"
        for value, ran in zip(series.values, series.measured, strict=True)
    ]


def description(series: MetricSeries, labels: Sequence[str]) -> str:
    """A text alternative."""
    rounds = list(zip(labels, value_words(series), strict=True))
    more = f"; and {len(rounds) - 12} more" if len(rounds) > 12 else ""
    return "; ".join(f"{drawable(label)} {words}" for label, words in rounds[:12]) + more
