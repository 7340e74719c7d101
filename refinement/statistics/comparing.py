"""Paired comparisons with a baseline, with a control for many comparisons.

Tasks differ much more than configurations, so each task's difference from the baseline counts, over the tasks
that both scored. An experiment makes many comparisons, and 5 % of them would mislead by chance if each had
its own 95 % interval. Here all comparisons of an experiment share these 5 % (Bonferroni), so that at most one
experiment in twenty without any true difference says "better" or "worse" anywhere. The verdict and the
interval always agree: "better" and "worse" mean that the interval does not contain 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from refinement.statistics.intervals import same_tasks
from refinement.statistics.resampling import FEWEST_TASKS, TINY, Floats, reaches

MISLEADING = 0.05  # the share of experiments without a difference that may show one
# With several task types, the comparisons over all tasks and those by type share it.
OVERALL_SHARE = 0.6
FEWEST_RESAMPLED = 12  # shared levels ask for quantiles that fewer tasks cannot give
MOST_APART = 10.0  # two composites differ by no more; an interval never leaves it


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no_difference"
    NOT_ENOUGH = "not_enough"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean difference from the baseline over the tasks that both scored; None without such a task."""

    difference: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    tasks: int


def compared(differences: Sequence[Floats], misleading: float) -> list[Comparison]:
    """A family of comparisons. Each entry has the tasks' differences, nan where one side has no score.

    `misleading` is the probability that any of them says "better" or "worse" without a true difference.
    """
    counts = [int(np.isfinite(column).sum()) for column in differences]
    tested = sum(count >= FEWEST_TASKS for count in counts)
    level = misleading / max(tested, 1)
    found = [Comparison(None, None, None, Verdict.NOT_ENOUGH, 0)] * len(differences)
    for places, values in same_tasks(differences):
        if not len(values):
            continue
        means = values.mean(axis=0)
        reach = np.zeros(len(places))
        if len(values) > 1:
            reach = reaches(values, [level] * len(places), resampled_from=FEWEST_RESAMPLED)
        for at, place in enumerate(places):
            found[place] = comparison(float(means[at]), float(reach[at]), len(values))
    return found


def comparison(difference: float, reach: float, tasks: int) -> Comparison:
    if tasks < FEWEST_TASKS:
        return Comparison(difference, None, None, Verdict.NOT_ENOUGH, tasks)
    low, high = max(difference - reach, -MOST_APART), min(difference + reach, MOST_APART)
    if low > TINY:
        verdict = Verdict.BETTER
    elif high < -TINY:
        verdict = Verdict.WORSE
    else:
        verdict = Verdict.NO_DIFFERENCE
    return Comparison(difference, low, high, verdict, tasks)


def shares(task_types: int) -> tuple[float, float]:
    """How `MISLEADING` is shared between the comparisons over all tasks and those by task type."""
    if task_types < 2:
        return MISLEADING, 0.0
    return MISLEADING * OVERALL_SHARE, MISLEADING * (1 - OVERALL_SHARE)
