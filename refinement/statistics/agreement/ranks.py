"""Rank agreement: Kendall's tau-b and Spearman's rho.

Tau-b is a ratio of sums over pairs of items. Its interval draws items with the pairs' sums linearised: each
item counts with how it is ordered against all others. That is exact to first order, and needs no pairs.
"""

import numpy as np
from scipy import stats

from refinement.statistics.agreement.bootstrap import Figure, Measure, figure_of
from refinement.statistics.resampling import Floats, Places

MOST_LEVELS = 1_500  # of either side's values in the interval; more are put together by rank


def tau_measure(judge: Floats, people: Floats) -> Measure | None:
    """Tau-b of two columns without gaps."""
    if len(judge) < 2:
        return None
    concordance, apart_a, apart_b = pair_counts(codes(judge), codes(people))
    parts = np.column_stack([concordance, apart_a, apart_b]).astype(np.float64)
    # An item's weight changes the sum over pairs on both sides of the pair.
    return Measure(2 * parts - parts.mean(axis=0), taus, -1, 1)


def tau_b(judge: Floats, people: Floats) -> float:
    """The exact value; nan if either side is constant."""
    return float(stats.kendalltau(judge, people).statistic)


def exact_value(figure: Figure | None, judge: Floats, people: Floats) -> Figure | None:
    """The figure with its exact value, if there were too many distinct values for `tau_measure`."""
    if figure is None or max(len(np.unique(judge)), len(np.unique(people))) <= MOST_LEVELS:
        return figure
    return Figure(tau_b(judge, people), figure.low, figure.high)


def codes(values: Floats) -> Places:
    """Each value's place among the distinct values, from 0."""
    found: Places = np.unique(values, return_inverse=True)[1].reshape(-1)
    if found.max() >= MOST_LEVELS:
        order = stats.rankdata(values) - 1
        found = (order * MOST_LEVELS / len(values)).astype(np.intp)
    return found


def pair_counts(a: Places, b: Places) -> tuple[Floats, Floats, Floats]:
    """Of each item against all others: concordant minus discordant, not tied in a, and not tied in b."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    up_to = np.zeros((table.shape[0] + 1, table.shape[1] + 1))
    up_to[1:, 1:] = table.cumsum(axis=0).cumsum(axis=1)
    items, below_a, below_b = len(a), up_to[:, -1], up_to[-1, :]
    both_below = up_to[a, b]
    a_below_b_above = below_a[a] - up_to[a, b + 1]
    a_above_b_below = below_b[b] - up_to[a + 1, b]
    both_above = items - below_a[a + 1] - below_b[b + 1] + up_to[a + 1, b + 1]
    concordance = both_below + both_above - a_below_b_above - a_above_b_below
    return concordance, items - table.sum(axis=1)[a], items - table.sum(axis=0)[b]


def taus(sums: Floats) -> Floats:
    concordance, apart_a, apart_b = np.moveaxis(sums, -1, 0)
    usable = (apart_a > 0) & (apart_b > 0)
    square = np.where(usable, apart_a * apart_b, 1.0)
    found: Floats = np.where(usable, np.clip(concordance / np.sqrt(square), -1, 1), np.nan)
    return found


def rho_measure(judge: Floats, people: Floats) -> Measure | None:
    """Spearman's rho of two columns without gaps; draws keep the ranks of the whole sample."""
    if len(judge) < 2:
        return None
    a, b = (stats.rankdata(column) - (len(judge) + 1) / 2 for column in (judge, people))
    return Measure(np.column_stack([np.ones(len(a)), a, b, a * a, b * b, a * b]), correlations, -1, 1)


def spearman(judge: Floats, people: Floats) -> Figure | None:
    return figure_of(rho_measure(judge, people))


def correlations(sums: Floats) -> Floats:
    """Pearson's correlation (...) from moments (..., 6); nan if either side is constant."""
    count, a, b, squared_a, squared_b, product = np.moveaxis(sums, -1, 0)
    square = (count * squared_a - a * a) * (count * squared_b - b * b)
    usable = square > 1e-9
    found: Floats = np.where(usable, (count * product - a * b) / np.sqrt(np.where(usable, square, 1)), np.nan)
    return found
