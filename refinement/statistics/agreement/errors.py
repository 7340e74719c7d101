"""How far a judge's scores are from people's: bias, mean absolute error, within one point."""

import numpy as np

from refinement.statistics.agreement.bootstrap import TINY, Figure, Measure
from refinement.statistics.agreement.rates import share
from refinement.statistics.resampling import Floats


def means(sums: Floats) -> Floats:
    """Means (...) from sums (..., 2) of ones and values."""
    found: Floats = np.where(sums[..., 0] > 0, sums[..., 1] / np.maximum(sums[..., 0], 1), np.nan)
    return found


def mean_measure(values: Floats, least: float = -np.inf) -> Measure | None:
    """The mean of the values, which have no gaps."""
    return Measure(np.column_stack([np.ones(len(values)), values]), means, least) if len(values) else None


def bias_measure(judge: Floats, people: Floats) -> Measure | None:
    """The judge's scores minus the mean of people's. Both are items × raters; every item has both."""
    return mean_measure(np.nanmean(judge, axis=1) - np.nanmean(people, axis=1)) if len(judge) else None


def mae_measure(judge: Floats, people: Floats) -> Measure | None:
    """The mean absolute difference of a judgement from the mean of people."""
    if not len(judge):
        return None
    return mean_measure(np.nanmean(np.abs(judge - np.nanmean(people, axis=1)[:, None]), axis=1), least=0)


def within(judge: Floats, people: Floats, tolerance: float) -> Figure | None:
    """The share of people's scores that differ from the judge's by at most the tolerance."""
    if not len(judge):
        return None
    apart = np.abs(judge[:, :, None] - people[:, None, :])
    there = np.isfinite(apart)
    close = (there & (apart <= tolerance + TINY)).sum(axis=(1, 2)) / there.sum(axis=(1, 2))
    return share(close)


def most_common(people: Floats) -> float:
    """The score that people gave most often; the middle one of those that are equally common."""
    values, counts = np.unique(people[np.isfinite(people)], return_counts=True)
    top = values[counts == counts.max()]
    return float(top[(len(top) - 1) // 2])
