"""Axes: positions of values and ticks."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from refinement.engine.types import Scale

STEPS = (1, 2, 5)


def at(value: float) -> str:
    """A coordinate as SVG text with at most one decimal, independent of the locale."""
    return f"{value:.1f}".removesuffix(".0")


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """A vertical axis from `low` at the bottom to `high` at the top."""

    low: Decimal
    high: Decimal
    step: Decimal
    top: float
    bottom: float

    def y(self, value: Decimal) -> float:
        inside = min(max(value, self.low), self.high)
        share = float((inside - self.low) / (self.high - self.low))
        return self.bottom - share * (self.bottom - self.top)

    @property
    def ticks(self) -> list[Decimal]:
        count = int((self.high - self.low) / self.step)
        return [self.low + self.step * number for number in range(count + 1)]


def value_axis(values: Sequence[Decimal], scale: Scale, *, top: float, bottom: float, most: int) -> ValueAxis:
    """An axis around the values with round ticks, within the scale and with at most `most` ticks.

    It spans at least half of the scale, so that slopes of different runs can be compared.
    """
    lowest, highest = (min(values), max(values)) if values else (scale.minimum, scale.maximum)
    least = (scale.maximum - scale.minimum) / 2
    step = round_step(max(highest - lowest, least) / (most - 2))
    floor = min(lowest - step / 2, highest + step / 2 - least)
    low = (floor / step).to_integral_value(ROUND_FLOOR) * step
    high = ((highest + step / 2) / step).to_integral_value(ROUND_CEILING) * step
    low, high = max(low, scale.minimum), min(high, scale.maximum)
    if high <= low:
        low, high = scale.minimum, scale.maximum
    return ValueAxis(low, high, step, top, bottom)


def round_step(least: Decimal) -> Decimal:
    """The smallest of 1, 2, 5, 10, … and their decimal fractions that is at least `least`."""
    power = Decimal(1).scaleb(least.adjusted())
    return next((power * step for step in STEPS if power * step >= least), power * 10)


def label_every(count: int, most: int) -> int:
    """The interval between labels so that at most `most` of `count` are shown."""
    every = 1
    while count / every > most:
        every = {1: 2, 2: 5}.get(every, every * 2)
    return every
