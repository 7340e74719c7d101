"""Two judges on the same items: the differences of their figures, from the same draws."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refinement.statistics.agreement.bootstrap import Figure, Measure, figures_of
from refinement.statistics.agreement.errors import bias_measure, mae_measure
from refinement.statistics.agreement.judges import Ratings
from refinement.statistics.agreement.kappa import kappa_measure
from refinement.statistics.resampling import Floats


@dataclass(frozen=True, slots=True)
class PairFigures:
    """One criterion: the second judge's figures minus the first's, on the items that both scored."""

    items: int  # that both judges and people scored
    raters: int
    first: dict[str, Figure | None]
    second: dict[str, Figure | None]
    differences: dict[str, Figure | None]


def pair_figures(first: Sequence[Ratings], second: Sequence[Ratings]) -> list[PairFigures]:
    """The figures of each criterion. Both judges have the same items and people, row by row."""
    measures, counts = [], []
    for one, other in zip(first, second, strict=True):
        people, ours, theirs = common(one, other)
        counts.append((len(people), int(np.isfinite(people).any(axis=0).sum())))
        a, b = measures_of(ours, people), measures_of(theirs, people)
        measures.append([*a.values(), *b.values(), *(difference(a[name], b[name]) for name in a)])
    found, flat = [], iter(figures_of([measure for entry in measures for measure in entry]))
    for items, raters in counts:
        parts = [{name: next(flat) for name in NAMES} for _ in range(3)]
        found.append(PairFigures(items, raters, *parts))
    return found


NAMES = ("kappa", "bias", "mae")


def common(one: Ratings, other: Ratings) -> tuple[Floats, Floats, Floats]:
    """People's, the first and the second judge's scores of the items that all scored."""
    rows = np.isfinite(one.people).any(axis=1)
    rows &= np.isfinite(one.judge).any(axis=1) & np.isfinite(other.judge).any(axis=1)
    return one.people[rows], one.judge[rows], other.judge[rows]


def measures_of(judge: Floats, people: Floats) -> dict[str, Measure | None]:
    if not len(judge):
        return dict.fromkeys(NAMES)
    measures = (kappa_measure(judge, people), bias_measure(judge, people), mae_measure(judge, people))
    return dict(zip(NAMES, measures, strict=True))


def difference(first: Measure | None, second: Measure | None) -> Measure | None:
    """The second figure minus the first, item by item."""
    if first is None or second is None:
        return None
    width = first.columns.shape[1]

    def formula(sums: Floats) -> Floats:
        found: Floats = second.formula(sums[..., width:]) - first.formula(sums[..., :width])
        return found

    return Measure(np.hstack([first.columns, second.columns]), formula)
