"""A small line chart of a run's composites."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.charts.axes import at

MARGIN = 3.0


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Points of the line, the threshold's height and the position of the best value."""

    width: int
    height: int
    points: str
    best_x: str
    best_y: str
    threshold_y: str  # empty without a threshold
    words: str


def sparkline(
    values: Sequence[Decimal],
    *,
    width: int = 96,
    height: int = 24,
    low: Decimal | None = None,
    high: Decimal | None = None,
    threshold: Decimal | None = None,
) -> Sparkline | None:
    """The line, or None without values. `low` and `high` set the axis, by default the values' range."""
    if not values:
        return None
    ends = [*values, *([threshold] if threshold is not None else [])]
    bottom, top = (min(ends) if low is None else low), (max(ends) if high is None else high)

    def y(value: Decimal) -> float:
        share = 0.5 if top <= bottom else float((min(max(value, bottom), top) - bottom) / (top - bottom))
        return height - MARGIN - share * (height - 2 * MARGIN)

    across = (width - 2 * MARGIN) / max(len(values) - 1, 1)
    places = [(MARGIN + across * number, y(value)) for number, value in enumerate(values)]
    if len(places) == 1:
        places = [(width / 2, places[0][1])]
    best = max(range(len(values)), key=lambda number: (values[number], -number))
    return Sparkline(
        width=width,
        height=height,
        points=" ".join(f"{at(x)},{at(place)}" for x, place in places),
        best_x=at(places[best][0]),
        best_y=at(places[best][1]),
        threshold_y="" if threshold is None else at(y(threshold)),
        words=", ".join(f"{round(value, 2).normalize():f}" for value in values[:20]),
    )
