"""The statistics of one experiment: from the figures of its runs to intervals, comparisons and cells."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from refinement.engine.metrics import suite_composite
from refinement.statistics.comparing import Comparison, compared, shares
from refinement.statistics.intervals import AMOUNT, RATE, SCORE, Bounds, Interval, mean_intervals
from refinement.statistics.noise import Noise, at_least, noise_of
from refinement.statistics.resampling import FEWEST_TASKS, Floats


class Trial(NamedTuple):
    """The figures of a scored run; scores from 0 to 10. Tasks and configurations are counted from 0."""

    task: int
    configuration: int
    r1: float
    rate: float  # share of checks and criteria that were met
    passed: bool
    best: float
    rounds: int
    tokens: int
    seconds: float
    cost: float | None = None


# Each figure with the range of its values. The order is that of reports.
FIGURES: dict[str, Bounds] = {
    "composite": SCORE,
    "mean_r1": SCORE,
    "criteria_rate": RATE,
    "pass_rate": RATE,
    "best": SCORE,
    "rounds": AMOUNT,
    "tokens": AMOUNT,
    "seconds": AMOUNT,
    "cost": AMOUNT,
}


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of all configurations over a set of tasks.

    Each list has an entry for each configuration.
    """

    task_type: str | None  # None for all tasks
    tasks: int
    figures: list[dict[str, Interval | None]]
    scored: list[int]  # runs
    comparisons: list[Comparison | None]  # None for the baseline


@dataclass(frozen=True, slots=True)
class Cells:
    """Tasks × configurations: means, lowest and highest composites (nan without a score), scored runs."""

    means: Floats
    lowest: Floats
    highest: Floats
    runs: Floats

    def difference(self, task: int, configuration: int, baseline: int) -> float | None:
        found = float(self.means[task, configuration] - self.means[task, baseline])
        return found if np.isfinite(found) else None


@dataclass(frozen=True, slots=True)
class Statistics:
    overall: Group
    by_type: list[Group]  # empty unless there are several task types
    cells: Cells
    noise: Noise | None
    comparisons: int  # that are tested


class Table:
    """The runs' figures averaged inside each cell, as matrices of tasks × configurations."""

    def __init__(self, trials: Sequence[Trial], tasks: int, configurations: int) -> None:
        self.shape = (tasks, configurations)
        rows = np.array([[np.nan if value is None else value for value in trial] for trial in trials], float)
        rows = rows.reshape(-1, len(Trial._fields))
        self.places = (rows[:, 0] * configurations + rows[:, 1]).astype(int)
        named = dict(zip(Trial._fields, rows.T, strict=True))
        self.composites: Floats = suite_composite(named["r1"], named["rate"])
        self.runs = self.summed(np.ones(len(rows)))
        values = {
            "composite": self.composites,
            "mean_r1": named["r1"],
            "criteria_rate": named["rate"],
            "pass_rate": named["passed"],
            **{name: named[name] for name in ("best", "rounds", "tokens", "seconds", "cost")},
        }
        self.means = {name: self.averaged(column) for name, column in values.items()}

    def summed(self, values: Floats) -> Floats:
        found = np.bincount(self.places, values, minlength=self.shape[0] * self.shape[1])
        return found.reshape(self.shape).astype(np.float64)

    def averaged(self, values: Floats) -> Floats:
        return np.where(self.runs > 0, self.summed(values) / np.maximum(self.runs, 1), np.nan)

    def cells(self) -> Cells:
        lowest, highest = np.full(self.shape, np.inf).ravel(), np.full(self.shape, -np.inf).ravel()
        np.minimum.at(lowest, self.places, self.composites)
        np.maximum.at(highest, self.places, self.composites)
        empty = self.runs == 0
        return Cells(
            self.means["composite"],
            np.where(empty, np.nan, lowest.reshape(self.shape)),
            np.where(empty, np.nan, highest.reshape(self.shape)),
            self.runs,
        )

    def noise(self, judge_difference: float | None) -> Noise | None:
        residuals = self.composites - self.means["composite"].ravel()[self.places]
        return at_least(noise_of(self.runs, self.summed(residuals**2)), judge_difference)


def experiment_statistics(
    trials: Sequence[Trial],
    *,
    task_types: Sequence[str],
    configurations: int,
    baseline: int | None,
    not_comparable: Collection[int] = (),
    judge_difference: float | None = None,
) -> Statistics:
    """All figures of an experiment.

    `task_types` has an entry for each task, and `baseline` is a configuration. Configurations that are
    `not_comparable`, as another judge measured them, are not compared with it. `judge_difference` is the
    judge's smallest real difference between two scores from 0 to 10, if it is known.
    """
    table = Table(trials, len(task_types), configurations)
    others = [place for place in range(configurations) if place != baseline and place not in not_comparable]
    comparisons = experiment_comparisons(table, task_types, baseline, others)
    overall = group_of(table, np.ones(len(task_types), dtype=bool), None, comparisons[None])
    by_type = [
        group_of(table, members(task_types, name), name, entries)
        for name, entries in comparisons.items()
        if name is not None
    ]
    tested = [entry for group in (overall, *by_type) for entry in group.comparisons if entry is not None]
    return Statistics(
        overall=overall,
        by_type=by_type,
        cells=table.cells(),
        noise=table.noise(judge_difference),
        comparisons=sum(entry.tasks >= FEWEST_TASKS for entry in tested),
    )


def experiment_comparisons(
    table: Table, task_types: Sequence[str], baseline: int | None, others: Sequence[int] | None = None
) -> dict[str | None, list[Comparison | None]]:
    """The comparisons of the others over all tasks (None) and, if there are several, by task type."""
    if others is None:
        others = [place for place in range(table.shape[1]) if place != baseline]
    types = sorted(set(task_types)) if len(set(task_types)) > 1 else []
    overall_share, type_share = shares(len(types))
    everywhere = np.ones(len(task_types), dtype=bool)
    overall = compared_group(table, [everywhere], baseline, others, overall_share)
    groups = [members(task_types, name) for name in types]
    by_type = compared_group(table, groups, baseline, others, type_share)
    return {None: overall[0], **dict(zip(types, by_type, strict=True))}


def members(task_types: Sequence[str], name: str) -> Floats:
    """Which tasks have this type."""
    return np.array([label == name for label in task_types], dtype=bool)


def compared_group(
    table: Table, groups: Sequence[Floats], baseline: int | None, others: Sequence[int], misleading: float
) -> list[list[Comparison | None]]:
    """One family of comparisons over several sets of tasks: a list for each set, by configuration."""
    configurations = table.shape[1]
    if baseline is None:
        return [[None] * configurations for _ in groups]
    composites = table.means["composite"]
    differences = [
        np.where(there, composites[:, place] - composites[:, baseline], np.nan)
        for there in groups
        for place in others
    ]
    found = iter(compared(differences, misleading))
    return [[next(found) if place in others else None for place in range(configurations)] for _ in groups]


def group_of(
    table: Table, there: Floats, task_type: str | None, comparisons: list[Comparison | None]
) -> Group:
    configurations = range(table.shape[1])
    columns = [table.means[name][there, place] for place in configurations for name in FIGURES]
    intervals = iter(mean_intervals(columns, [FIGURES[name] for _ in configurations for name in FIGURES]))
    return Group(
        task_type=task_type,
        tasks=int(there.sum()),
        figures=[{name: next(intervals) for name in FIGURES} for _ in configurations],
        scored=[int(count) for count in table.runs[there].sum(axis=0)],
        comparisons=comparisons,
    )
