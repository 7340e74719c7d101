"""Quadratic-weighted kappa between a judge and people.

For scores that are whole numbers it equals scikit-learn's `cohen_kappa_score(weights="quadratic")`; the same
formula holds for any numbers: 1 − mean (a − b)² / mean of (a − b)² over all pairs of an a with a b.

A judge that scored an item several times counts with each of its judgements, not with their mean: a run gets
a single judgement.
"""

import numpy as np

from refinement.statistics.agreement.bootstrap import TINY, Measure
from refinement.statistics.resampling import Floats, Truths

FEWEST_SHARED = 10  # a person with fewer shared items counts only if nobody has more
MOST_PEOPLE = 50  # those with the most shared items
COLUMNS = 6  # of each pair of raters: count, a, b, a², b², a·b


def weighted_kappa(judge: Floats, person: Floats) -> float:
    """Kappa of two raters' scores of the same items; nan if both always give the same score."""
    found = kappas(np.column_stack(moments(judge[:, None], person)).sum(axis=0))
    return float(found)


def kappa_measure(judge: Floats, people: Floats) -> Measure | None:
    """Judge × each person, averaged over people. `judge` is items × repeats, `people` items × people."""
    chosen = people_with_enough(judge, people)
    if not chosen:
        return None
    rows = np.isfinite(judge).any(axis=1) & np.isfinite(people[:, chosen]).any(axis=1)
    centre = np.nanmean(people[rows][:, chosen])
    blocks = [np.column_stack(moments(judge[rows] - centre, people[rows, at] - centre)) for at in chosen]
    return Measure(np.hstack(blocks), mean_kappa, -1, 1)


def people_with_enough(judge: Floats, people: Floats) -> list[int]:
    """The places of the people who count: those with enough items that the judge scored, too."""
    judged = np.isfinite(judge).any(axis=1, keepdims=True)
    shared = (np.isfinite(people) & judged).sum(axis=0)
    enough = FEWEST_SHARED if max(shared, default=0) >= FEWEST_SHARED else 2
    counts = [int(count) for count in shared]
    known = [at for at, count in enumerate(counts) if count >= enough]
    return sorted(sorted(known, key=lambda at: (-counts[at], at))[:MOST_PEOPLE])


def moments(judge: Floats, person: Floats) -> list[Floats]:
    """Of each item that both scored; zeros for the others. Repeats of the judge are averaged."""
    there = np.isfinite(person) & np.isfinite(judge).any(axis=1)
    b = np.where(there, person, 0.0)
    a, squared = averaged(judge, there), averaged(judge**2, there)
    return [there.astype(np.float64), a, b, squared, b * b, a * b]


def averaged(judge: Floats, there: Truths) -> Floats:
    """Each item's mean over the judge's repeats; 0 for items that do not count."""
    counts = np.isfinite(judge).sum(axis=1)
    sums: Floats = np.nansum(judge, axis=1) / np.maximum(counts, 1)
    return np.where(there, sums, 0.0)


def kappas(sums: Floats) -> Floats:
    """Kappas (...) from moments (..., 6)."""
    count, a, b, squared_a, squared_b, product = np.moveaxis(sums, -1, 0)
    observed = squared_a + squared_b - 2 * product
    expected = squared_a + squared_b - 2 * a * b / np.maximum(count, 1)
    usable = (count > 1) & (expected > TINY)
    found: Floats = np.where(usable, 1 - observed / np.where(usable, expected, 1.0), np.nan)
    return found


def mean_kappa(sums: Floats) -> Floats:
    """The mean kappa (...) over people from moments (..., people × 6), without those it is undefined for."""
    found = kappas(sums.reshape(*sums.shape[:-1], -1, COLUMNS))
    defined = np.isfinite(found)
    counts = defined.sum(axis=-1)
    total = np.where(defined, found, 0.0).sum(axis=-1)
    mean: Floats = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
    return mean


def against_people_measure(judge: Floats, people: Floats) -> Measure | None:
    """The judge's kappa with people minus people's kappa with each other, on items with two people or more.

    Both are pooled over all pairs, so that they compare like with like. Below 0, the judge agrees less with
    a person than another person does.
    """
    rows = np.isfinite(judge).any(axis=1) & (np.isfinite(people).sum(axis=1) >= 2)
    if not rows.any():
        return None
    centre = np.nanmean(people[rows])
    with_judge = pooled_with_judge(judge[rows] - centre, people[rows] - centre)
    with_people = pooled_with_people(people[rows] - centre)
    return Measure(np.hstack([with_judge, with_people]), difference, -2, 2)


def pooled_with_judge(judge: Floats, people: Floats) -> Floats:
    """Moments of all pairs of the judge with a person, averaged inside each item."""
    ones = np.ones(len(judge))
    a, squared_a = np.nanmean(judge, axis=1), np.nanmean(judge**2, axis=1)
    b, squared_b = np.nanmean(people, axis=1), np.nanmean(people**2, axis=1)
    return np.column_stack([ones, a, b, squared_a, squared_b, a * b])


def pooled_with_people(people: Floats) -> Floats:
    """Moments of all ordered pairs of two people, averaged inside each item."""
    counts = np.isfinite(people).sum(axis=1)
    total, squares = np.nansum(people, axis=1), np.nansum(people**2, axis=1)
    mean, squared = total / counts, squares / counts
    product = (total**2 - squares) / (counts * (counts - 1))
    return np.column_stack([np.ones(len(people)), mean, mean, squared, squared, product])


def difference(sums: Floats) -> Floats:
    found: Floats = kappas(sums[..., :COLUMNS]) - kappas(sums[..., COLUMNS:])
    return found
