"""How much a judge differs from itself when it scores the same text again."""

import numpy as np

from refinement.statistics.agreement.bootstrap import Figure, Measure
from refinement.statistics.agreement.errors import means
from refinement.statistics.agreement.rates import share
from refinement.statistics.resampling import Floats

REAL = 1.96 * np.sqrt(2.0)  # 95 % of differences between two judgements by noise alone are smaller


def repeated(judge: Floats) -> Floats:
    """The items with two judgements or more."""
    found: Floats = judge[np.isfinite(judge).sum(axis=1) >= 2]
    return found


def retest_measure(judge: Floats) -> Measure | None:
    """The root of the mean within-item sample variance; None without an item that was judged twice."""
    rows = repeated(judge)
    if not len(rows):
        return None
    variances = np.nanvar(rows, axis=1, ddof=1)
    return Measure(np.column_stack([np.ones(len(rows)), variances]), deviations, 0)


def deviations(sums: Floats) -> Floats:
    found: Floats = np.sqrt(np.maximum(means(sums), 0))
    return found


def smallest_difference(deviation: Figure | None) -> Figure | None:
    """The smallest difference between two single judgements that noise alone does not explain."""
    if deviation is None:
        return None
    low, high = (None if end is None else float(REAL * end) for end in (deviation.low, deviation.high))
    return Figure(float(REAL * deviation.value), low, high)


def flip_rate(judge: Floats, pass_mark: float) -> Figure | None:
    """How often two judgements of one text are on different sides of the pass mark."""
    rows = repeated(judge)
    if not len(rows):
        return None
    counts = np.isfinite(rows).sum(axis=1)
    passed = (rows >= pass_mark).sum(axis=1)  # nan compares as not passed, and counts do not include it
    return share(passed * (counts - passed) / (counts * (counts - 1) / 2))
