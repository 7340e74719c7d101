"""All figures of one judge, by criterion."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from refinement.statistics.agreement.alpha import Level, alpha_measure
from refinement.statistics.agreement.bootstrap import Figure, Measure, figures_of
from refinement.statistics.agreement.errors import bias_measure, mae_measure, most_common, within
from refinement.statistics.agreement.kappa import against_people_measure, kappa_measure
from refinement.statistics.agreement.ranks import exact_value, tau_measure
from refinement.statistics.agreement.repeats import flip_rate, repeated, retest_measure, smallest_difference
from refinement.statistics.resampling import Floats, Places

BASELINE = Figure(0.0, 0.0, 0.0)  # kappa of a constant score, by definition


@dataclass(frozen=True, slots=True)
class Ratings:
    """One criterion's scores; nan is a gap. All have a row for each item."""

    people: Floats  # a column for each person
    judge: Floats  # a column for each of the judge's judgements
    repeats: Floats  # the same, but only judgements of one prompt

    def shared(self) -> "Ratings":
        """The items that people and the judge both scored."""
        rows = self.shared_rows()
        return Ratings(self.people[rows], self.judge[rows], self.repeats[rows])

    def shared_rows(self) -> Places:
        """The places of these items."""
        found: Places = np.flatnonzero(
            np.isfinite(self.people).any(axis=1) & np.isfinite(self.judge).any(axis=1)
        )
        return found


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """The figures of one criterion; None where they are undefined."""

    items: int  # that people and the judge both scored
    raters: int
    pairs: int  # of a judged item with a person
    alpha_items: int  # that two people or more scored
    retest_items: int
    retest_judgements: int
    people_mean: float | None
    judge_mean: float | None
    # People's and the judge's rounded scores, how often, and how many of these are far apart before rounding
    grid: list[tuple[float, float, int, int]]
    named: dict[str, Figure | None] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Figure | None:
        return self.named[name]


def judge_figures(
    criteria: Sequence[Ratings], *, tolerance: float, pass_mark: float | None, far: float = inf
) -> list[JudgeFigures]:
    """The figures of each criterion.

    `tolerance` is how far apart scores within "one point" are, `pass_mark` where a flip is counted, `far` how
    far apart the judge and people disagree.
    """
    measures = [judge_measures(ratings) for ratings in criteria]
    flat = iter(figures_of([measure for entry in measures for measure in entry.values()]))
    found = []
    for ratings, entry in zip(criteria, measures, strict=True):
        named = {name: next(flat) for name in entry}
        found.append(completed(ratings, named, tolerance, pass_mark, far))
    return found


def judge_measures(ratings: Ratings) -> dict[str, Measure | None]:
    shared = ratings.shared()
    some = bool(len(shared.judge))
    return {
        "kappa": kappa_measure(shared.judge, shared.people) if some else None,
        "alpha": alpha_measure(ratings.people),
        "alpha_ordinal": alpha_measure(ratings.people, Level.ORDINAL),
        "bias": bias_measure(shared.judge, shared.people),
        "mae": mae_measure(shared.judge, shared.people),
        "tau_b": tau_measure(*row_means(shared)) if some else None,
        "retest_sd": retest_measure(ratings.repeats),
        "against_people": against_people_measure(shared.judge, shared.people) if some else None,
    }


def row_means(shared: Ratings) -> tuple[Floats, Floats]:
    return np.nanmean(shared.judge, axis=1), np.nanmean(shared.people, axis=1)


def completed(
    ratings: Ratings, named: dict[str, Figure | None], tolerance: float, pass_mark: float | None, far: float
) -> JudgeFigures:
    shared, retested = ratings.shared(), repeated(ratings.repeats)
    judge, people = row_means(shared) if len(shared.judge) else (np.empty(0), np.empty(0))
    named["tau_b"] = exact_value(named["tau_b"], judge, people)
    named["kappa_baseline"] = None if named["kappa"] is None else BASELINE
    named["smallest_difference"] = smallest_difference(named["retest_sd"])
    named["flip_rate"] = None if pass_mark is None else flip_rate(ratings.repeats, pass_mark)
    named["within_one"] = within(shared.judge, shared.people, tolerance)
    named["within_one_baseline"] = (
        within(np.full((len(people), 1), most_common(shared.people)), shared.people, tolerance)
        if len(people)
        else None
    )
    return JudgeFigures(
        items=len(people),
        raters=int(np.isfinite(shared.people).any(axis=0).sum()),
        pairs=int(np.isfinite(shared.people).sum()),
        alpha_items=int((np.isfinite(ratings.people).sum(axis=1) >= 2).sum()),
        retest_items=len(retested),
        retest_judgements=int(np.isfinite(retested).sum()),
        people_mean=float(people.mean()) if len(people) else None,
        judge_mean=float(judge.mean()) if len(judge) else None,
        grid=grid_of(people, judge, tolerance, far),
        named=named,
    )


def grid_of(people: Floats, judge: Floats, point: float, far: float) -> list[tuple[float, float, int, int]]:
    """How often each pair of scores occurs, rounded to points of the scale, and how many are far apart."""
    pairs = list(zip(rounded(people, point), rounded(judge, point), strict=True))
    counts = Counter(pairs)
    apart = Counter(pairs[at] for at in np.flatnonzero(far_apart(judge, people, far)))
    return [(*pair, count, apart[pair]) for pair, count in sorted(counts.items())]


def far_apart(judge: Floats, people: Floats, far: float) -> NDArray[np.bool_]:
    """Which texts have scores at least `far` apart."""
    return np.abs(judge - people) >= far - 1e-9


def rounded(values: Floats, point: float) -> list[float]:
    steps = np.floor(values / point + 0.5)
    return [round(float(step * point), 6) for step in steps]
