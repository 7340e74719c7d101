"""A mean over tasks with its 95 % interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refinement.statistics.resampling import Floats, reaches

LEVEL = 0.05  # the share of intervals that may miss the true value
FEWEST_RESAMPLED = 8


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its interval; without one if there is only one task."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Bounds:
    """The range of possible values. An interval never leaves it."""

    least: float = 0.0
    most: float = float("inf")


SCORE = Bounds(0, 10)
RATE = Bounds(0, 1)
AMOUNT = Bounds()


def mean_intervals(columns: Sequence[Floats], bounds: Sequence[Bounds]) -> list[Interval | None]:
    """Each column's mean over its tasks; nan marks tasks without a value, and a column without any gives
    None.

    Columns with values for the same tasks share their draws.
    """
    found: list[Interval | None] = [None] * len(columns)
    for places, values in same_tasks(columns):
        if not len(values):
            continue
        means = values.mean(axis=0)
        reach = np.zeros(len(places))
        if len(values) > 1:
            reach = reaches(values, [LEVEL] * len(places), resampled_from=FEWEST_RESAMPLED)
        for at, place in enumerate(places):
            found[place] = interval(float(means[at]), float(reach[at]), bounds[place], tasks=len(values))
    return found


def same_tasks(columns: Sequence[Floats]) -> list[tuple[list[int], Floats]]:
    """The columns by the tasks that they have values for, as matrices with a row for each of these tasks."""
    groups: dict[bytes, list[int]] = {}
    for place, column in enumerate(columns):
        groups.setdefault(np.isfinite(column).tobytes(), []).append(place)
    found = []
    for places in groups.values():
        there = np.isfinite(columns[places[0]])
        found.append((places, np.column_stack([columns[place][there] for place in places])))
    return found


def interval(value: float, reach: float, bounds: Bounds, *, tasks: int) -> Interval:
    if tasks < 2:
        return Interval(value, None, None)
    if not reach and bounds is RATE and value in (bounds.least, bounds.most):
        # "All of 20 passed" does not mean that none ever fails: the exact limit for n of n.
        limit = LEVEL ** (1 / tasks)
        return Interval(value, limit, 1.0) if value else Interval(value, 0.0, 1 - limit)
    return Interval(value, max(value - reach, bounds.least), min(value + reach, bounds.most))
