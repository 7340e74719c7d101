"""Noise: how much the repeats of a cell differ, although nothing was changed."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from refinement.statistics.resampling import Floats

FEWEST_SPREADS = 5  # degrees of freedom below which the estimate is a guess
DEVIATIONS = 1.96  # 95 % of differences by noise alone are smaller


@dataclass(frozen=True, slots=True)
class Noise:
    """The standard deviation of a single run's score around its cell's mean.

    Estimated over all cells with repeats, and at least what the judge's own scores of one text differ by.
    Without enough repeats, only the judge's part is known, and `cells` is 0.
    """

    deviation: float
    cells: int

    def smallest_difference(self, runs: int, others: int) -> float:
        """The smallest difference between the means of two cells that noise alone does not explain."""
        return DEVIATIONS * self.deviation * float(np.sqrt(1 / runs + 1 / others))


def at_least(found: Noise | None, judge_difference: float | None) -> Noise | None:
    """The noise with that of a judge whose smallest real difference between two scores is known."""
    if not judge_difference:
        return found
    deviation = judge_difference / (DEVIATIONS * sqrt(2))
    return Noise(max(deviation, found.deviation if found else 0.0), found.cells if found else 0)


def noise_of(counts: Floats, deviations: Floats) -> Noise | None:
    """From each cell's number of scored repeats and their summed squared deviations; None without enough."""
    repeated = counts > 1
    freedom = float((counts[repeated] - 1).sum())
    if freedom < FEWEST_SPREADS:
        return None
    return Noise(float(np.sqrt(deviations[repeated].sum() / freedom)), int(repeated.sum()))
