"""Figures of each criterion: how often it is lowest or below the pass mark, its scores by round, its lift."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean, stdev

from refinement.models import Round
from refinement.selectors.failures.window import Window

BINS = 10
ROUNDS = 3  # with a histogram each
FEWEST_PAIRED = 5  # runs, for an interval
# Student's t for 95 %, by degrees of freedom; beyond the last one the normal value is near enough.
T_VALUES = {
    4: 2.78,
    5: 2.57,
    6: 2.45,
    7: 2.36,
    8: 2.31,
    9: 2.26,
    11: 2.20,
    14: 2.14,
    19: 2.09,
    29: 2.05,
    59: 2.0,
}


@dataclass(frozen=True, slots=True)
class Histogram:
    """The scores of one round: how many are in each tenth of the scale."""

    number: int
    count: int
    bins: tuple[int, ...]
    mean: float | None


@dataclass(frozen=True, slots=True)
class Lift:
    """The average gain by a revision: each round against the round that it revised, averaged by run."""

    mean: float
    low: float | None
    high: float | None
    runs: int


@dataclass(slots=True)
class CriterionFigures:
    """A criterion in the window."""

    key: str
    name: str
    slot: int
    runs: int = 0  # that scored it
    scored_by: set[int] = field(default_factory=set)  # these runs
    lowest: int = 0
    first_below: int = 0
    last_below: int = 0
    marked: int = 0  # runs with a pass mark that scored it
    rounds: list[Histogram] = field(default_factory=list)
    lift: Lift | None = None

    @property
    def lowest_share(self) -> float:
        return self.lowest / self.runs if self.runs else 0.0

    @property
    def first_share(self) -> float | None:
        return self.first_below / self.marked if self.marked else None

    @property
    def last_share(self) -> float | None:
        return self.last_below / self.marked if self.marked else None


@dataclass(frozen=True, slots=True)
class ScoredRound:
    number: int
    base: int | None
    scores: dict[str, float]


def criteria_figures(window: Window) -> tuple[list[CriterionFigures], int]:
    """The criteria, the one that is lowest most often first, and how many judged rounds there are."""
    rounds = scored_rounds(window)
    found: dict[str, CriterionFigures] = {}
    scores: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    gains: dict[str, list[float]] = defaultdict(list)
    for run in window.runs:
        judged = rounds.get(run.pk)
        if not judged:
            continue
        best = next((entry for entry in judged if entry.number == run.best_round), None)
        if best is None:
            continue
        lowest, highest = min(best.scores.values()), max(best.scores.values())
        mark = window.scales[run.version].pass_mark
        for key, score in best.scores.items():
            entry = found.get(key)
            if entry is None:
                entry = found[key] = CriterionFigures(key, window.name_of(key), window.slot_of(key))
            entry.runs += 1
            entry.scored_by.add(run.pk)
            entry.lowest += score == lowest and lowest < highest
            if mark is not None:
                entry.marked += 1
                entry.first_below += judged[0].scores.get(key, mark) < mark
                entry.last_below += judged[-1].scores.get(key, mark) < mark
        add_scores(judged, scores, gains)
    for key, entry in found.items():
        entry.rounds = [histogram(number, scores[key].get(number, [])) for number in range(1, ROUNDS + 1)]
        entry.lift = lift_of(gains.get(key, []))
    ordered = sorted(found.values(), key=lambda entry: (-entry.lowest_share, window.order.get(entry.key, 0)))
    return ordered, sum(map(len, rounds.values()))


def scored_rounds(window: Window) -> dict[int, list[ScoredRound]]:
    """The judged rounds of each run, with scores from 0 to 10. One query."""
    versions = {run.pk: run.version for run in window.runs}
    rows = Round.objects.filter(run__in=window.numbers, judged_at__isnull=False).order_by("run_id", "number")
    found: dict[int, list[ScoredRound]] = defaultdict(list)
    for run, number, base, scores in rows.values_list("run", "number", "base_round", "scores"):
        if scores:
            factor = window.scales[versions[run]].factor
            values = {key: float(score) * factor for key, score in scores.items()}
            found[run].append(ScoredRound(number, base, values))
    return found


def add_scores(
    judged: Sequence[ScoredRound], scores: dict[str, dict[int, list[float]]], gains: dict[str, list[float]]
) -> None:
    """Adds a run's scores by round, and its average gain by a revision."""
    by_number = {entry.number: entry for entry in judged}
    differences: dict[str, list[float]] = defaultdict(list)
    for entry in judged:
        base = by_number.get(entry.base or entry.number - 1)
        for key, score in entry.scores.items():
            if entry.number <= ROUNDS:
                scores[key][entry.number].append(score)
            if base is not None and base.number < entry.number and key in base.scores:
                differences[key].append(score - base.scores[key])
    for key, values in differences.items():
        gains[key].append(fmean(values))


def histogram(number: int, scores: Sequence[float]) -> Histogram:
    bins = [0] * BINS
    for score in scores:
        bins[min(BINS - 1, max(0, int(score)))] += 1
    return Histogram(number, len(scores), tuple(bins), fmean(scores) if scores else None)


def lift_of(gains: Sequence[float]) -> Lift | None:
    """The mean over runs with its 95 % interval, as the rounds of a run depend on each other."""
    if not gains:
        return None
    mean = fmean(gains)
    if len(gains) < FEWEST_PAIRED:
        return Lift(mean, None, None, len(gains))
    freedom = len(gains) - 1
    t = next((value for most, value in sorted(T_VALUES.items(), reverse=True) if freedom >= most), 2.78)
    half = (1.96 if freedom > 120 else t) * stdev(gains) / sqrt(len(gains))
    return Lift(mean, mean - half, mean + half, len(gains))
