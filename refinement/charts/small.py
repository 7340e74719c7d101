"""Geometry of small pictures in tables: bars, histograms, trends and intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT, STEP, BAR = 92, 32, 9, 7.5
TREND_WIDTH, TREND_HEIGHT, INSET = 88, 24, 3


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    height: float
    below: bool  # the pass mark


@dataclass(frozen=True, slots=True)
class HistogramShape:
    bars: tuple[Bar, ...]
    mark: float | None  # where the pass mark is


@dataclass(frozen=True, slots=True)
class TrendShape:
    points: str
    end_x: float
    end_y: float


@dataclass(frozen=True, slots=True)
class IntervalShape:
    """In hundredths of the width."""

    zero: float
    low: float
    mean: float
    high: float


def histogram_shape(bins: Sequence[int], mark: float | None) -> HistogramShape:
    """Bars for the tenths of a scale from 0 to 10; empty tenths have none."""
    most = max(bins, default=0) or 1
    bars = []
    for place, count in enumerate(bins):
        height = round(max(0.6, count / most * (HISTOGRAM_HEIGHT - 4)), 1) if count else 0.0
        if height:
            below = mark is not None and place < mark
            bars.append(Bar(1 + place * STEP, round(HISTOGRAM_HEIGHT - height, 1), height, below))
    return HistogramShape(tuple(bars), None if mark is None else round(0.5 + mark * STEP, 1))


def trend_shape(values: Sequence[float | None]) -> TrendShape:
    """A line from 0 at the bottom to the largest value at the top; None has no point."""
    most = max((value for value in values if value is not None), default=0) or 1
    across = (TREND_WIDTH - 2 * INSET) / max(1, len(values) - 1)
    down = TREND_HEIGHT - 2 * INSET
    places = [
        (round(INSET + n * across, 1), round(TREND_HEIGHT - INSET - value / most * down, 1))
        for n, value in enumerate(values)
        if value is not None
    ]
    end_x, end_y = places[-1] if places else (0.0, 0.0)
    return TrendShape(" ".join(f"{x},{y}" for x, y in places), end_x, end_y)


def interval_shape(
    mean: float, low: float | None, high: float | None, least: float, most: float
) -> IntervalShape:
    """Where the interval is on an axis from `least` to `most`."""

    def place(value: float) -> float:
        return round(min(98.0, max(2.0, (value - least) / (most - least or 1) * 96 + 2)), 1)

    return IntervalShape(
        place(0), place(mean if low is None else low), place(mean), place(mean if high is None else high)
    )
