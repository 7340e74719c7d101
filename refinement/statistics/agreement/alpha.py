"""Krippendorff's alpha: how much raters agree with each other, with gaps and any number of raters.

For two ratings the distance is (a − b)² (interval), or the same of their mean ranks among all ratings
(ordinal), which is what Krippendorff's ordinal metric amounts to.
"""

from enum import StrEnum

import numpy as np
from scipy import stats

from refinement.statistics.agreement.bootstrap import TINY, Measure
from refinement.statistics.resampling import Floats, Truths


class Level(StrEnum):
    INTERVAL = "interval"
    ORDINAL = "ordinal"


def alpha_measure(ratings: Floats, level: Level = Level.INTERVAL) -> Measure | None:
    """Alpha over the columns of `ratings` (items × raters, nan for a gap); None without a shared item.

    In the ordinal interval, the ranks are those of the whole sample.
    """
    there = np.isfinite(ratings)
    shared = there.sum(axis=1) >= 2
    if not shared.any():
        return None
    values, there = ratings[shared], there[shared]
    if level is Level.ORDINAL:
        values = ranks(values, there)
    values = np.where(there, values - values[there].mean(), 0.0)
    counts = there.sum(axis=1).astype(np.float64)
    total, squares = values.sum(axis=1), (values**2).sum(axis=1)
    within = (2 * counts * squares - 2 * total**2) / (counts - 1)
    return Measure(np.column_stack([counts, total, squares, within]), alphas, -1, 1)


def ranks(values: Floats, there: Truths) -> Floats:
    found = np.zeros(values.shape)
    found[there] = stats.rankdata(values[there])
    return found


def alphas(sums: Floats) -> Floats:
    """Alphas (...) from sums (..., 4); nan if all ratings are equal."""
    count, total, squares, within = np.moveaxis(sums, -1, 0)
    expected = 2 * count * squares - 2 * total**2
    usable = expected > TINY * np.maximum(count, 1)
    found: Floats = np.where(usable, 1 - (count - 1) * within / np.where(usable, expected, 1.0), np.nan)
    return found
