"""Shares with Wilson intervals."""

import numpy as np
from scipy import stats

from refinement.statistics.agreement.bootstrap import MISSED, TINY, Figure
from refinement.statistics.resampling import Floats

Z = float(stats.norm.ppf(1 - MISSED / 2))


def wilson(hits: float, count: float) -> Figure | None:
    """A share of independent cases with its Wilson interval; None without a case."""
    if count <= 0:
        return None
    rate = hits / count
    middle = (rate + Z * Z / (2 * count)) / (1 + Z * Z / count)
    reach = Z * np.sqrt(rate * (1 - rate) / count + Z * Z / (4 * count * count)) / (1 + Z * Z / count)
    # At the ends, rounding would leave the value outside of its own interval.
    return Figure(
        float(rate), float(max(min(middle - reach, rate), 0)), float(min(max(middle + reach, rate), 1))
    )


def share(fractions: Floats) -> Figure | None:
    """The mean of items' fractions, each from 0 to 1.

    An item with several judgements is worth more than one case, so the interval is Wilson's with the number
    of cases that has the observed spread.
    """
    items = len(fractions)
    if not items:
        return None
    rate = float(fractions.mean())
    error = float(fractions.var(ddof=1)) / items if items > 1 else 0.0
    cases = max(rate * (1 - rate) / error, 1.0) if error > TINY / items else float(items)
    return wilson(rate * cases, cases)
