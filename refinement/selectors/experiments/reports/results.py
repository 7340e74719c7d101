"""The report of an experiment: its rows, the statistics over them, and JSON for pages, API and files.

Computed in a worker, because it imports numpy. Pages read the stored report, see `stored.py`.
"""

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from math import isfinite
from typing import Any, NamedTuple

from refinement.models import CellState, Configuration, Experiment, ExperimentRun, SuiteTask
from refinement.selectors.experiments.clocks import busy_seconds
from refinement.selectors.experiments.identity import differences
from refinement.selectors.experiments.judges import judge_difference, judge_facts
from refinement.selectors.experiments.reports.headline import headline
from refinement.selectors.experiments.reports.rulers import comparable, is_judged, with_criteria
from refinement.selectors.experiments.reports.stored import SCHEMA
from refinement.selectors.experiments.words import NOT_COMPARABLE
from refinement.statistics.comparing import MISLEADING, Comparison
from refinement.statistics.experiments import FIGURES, Group, Statistics, Trial, experiment_statistics
from refinement.statistics.intervals import Interval

DIGITS = 6
TASK_FIELDS = ("pk", "key", "title", "task_type", "position", "version_id")
BY_TYPE_FIGURES = ("composite", "mean_r1", "criteria_rate", "pass_rate")
NO_COMPARISON = {"difference": None, "low": None, "high": None, "verdict": NOT_COMPARABLE, "tasks": 0}
PENDING = (CellState.WAITING, CellState.RUNNING)


class Row(NamedTuple):
    """One current repeat of a cell."""

    configuration: int
    task: int
    state: str
    r1: Decimal | None
    best: Decimal | None
    criteria_met: int
    criteria_total: int
    passed: bool
    rounds: int
    tokens: int
    seconds: Decimal
    cost: Decimal | None


class Loaded(NamedTuple):
    experiment: Experiment
    configurations: list[Configuration]
    tasks: list[SuiteTask]
    rows: list[Row]
    judges: list[dict[str, Any]]  # what is known about them

    @property
    def baseline(self) -> int | None:
        """The baseline's place in the list."""
        return next((at for at, entry in enumerate(self.configurations) if entry.baseline), None)

    @property
    def not_comparable(self) -> frozenset[int]:
        """The places of configurations with another judge, board or rubric version than the baseline."""
        same_ruler = comparable(self.configurations)
        return frozenset(at for at, entry in enumerate(self.configurations) if entry.pk not in same_ruler)


def experiment_results(pk: int) -> dict[str, Any]:
    """The report's JSON of the experiment with this primary key."""
    found = loaded(pk)
    statistics = experiment_statistics(
        trials(found),
        task_types=[task.task_type for task in found.tasks],
        configurations=len(found.configurations),
        baseline=found.baseline,
        not_comparable=found.not_comparable,
        judge_difference=judge_difference(found.judges),
    )
    return report(found, statistics)


def loaded(pk: int) -> Loaded:
    experiment = Experiment.objects.select_related("suite_version__suite").get(pk=pk)
    rows = ExperimentRun.objects.filter(experiment=experiment, replaced=False).order_by("order", "id")
    fields = ["task_id" if name == "task" else name for name in Row._fields]
    fields[0] = "configuration_id"
    return Loaded(
        experiment,
        list(with_criteria(experiment.configurations.order_by("position"))),
        list(experiment.suite_version.tasks.order_by("position").only(*TASK_FIELDS)),
        [Row(*values) for values in rows.values_list(*fields)],
        judge_facts(experiment),
    )


def trials(found: Loaded) -> list[Trial]:
    """The figures of every scored run."""
    configurations = {entry.pk: at for at, entry in enumerate(found.configurations)}
    tasks = {task.pk: at for at, task in enumerate(found.tasks)}
    return [
        Trial(
            task=tasks[row.task],
            configuration=configurations[row.configuration],
            r1=float(row.r1 or 0),
            rate=rate_of(row),
            passed=row.passed,
            best=float(row.r1 or 0) if row.best is None else float(row.best),
            rounds=row.rounds,
            tokens=row.tokens,
            seconds=float(row.seconds),
            cost=None if row.cost is None else float(row.cost),
        )
        for row in found.rows
        if row.state == CellState.DONE
    ]


def rate_of(row: Row) -> float:
    """The share of checks and criteria that were met; 1 without any."""
    return row.criteria_met / row.criteria_total if row.criteria_total else 1.0


def report(found: Loaded, statistics: Statistics) -> dict[str, Any]:
    experiment, suite_version = found.experiment, found.experiment.suite_version
    overall = statistics.overall
    configurations = [
        {
            **named(entry),
            "baseline": entry.baseline,
            "judge": entry.judge_model if is_judged(entry) else "",
            "changes": changes(found, entry),
            **counts(row for row in found.rows if row.configuration == entry.pk),
            **figures(found, overall, at, FIGURES),
        }
        for at, entry in enumerate(found.configurations)
    ]
    task_types = [by_type(found, group) for group in statistics.by_type]
    return {
        "schema": SCHEMA,
        "experiment": experiment.pk,
        "name": experiment.name,
        "suite": suite_version.suite.slug,
        "version": suite_version.number,
        "tasks": len(found.tasks),
        "repeats": experiment.repeats,
        "configurations": configurations,
        "task_types": task_types,
        "cells": cells(found, statistics),
        "busy_seconds": round(busy_seconds(experiment), 1),
        "noise": noise(statistics, experiment.repeats, judge_difference(found.judges)),
        "judges": found.judges,
        "headline": headline(configurations, task_types),
        "comparisons": statistics.comparisons,
        "chance": chance(statistics.comparisons),
    }


def named(entry: Configuration) -> dict[str, Any]:
    return {"id": entry.pk, "letter": entry.letter, "name": entry.name}


def changes(found: Loaded, entry: Configuration) -> list[dict[str, str]]:
    """The settings in which it differs from the baseline."""
    if found.baseline is None or entry.baseline:
        return []
    return differences(found.configurations[found.baseline], entry)


def counts(rows: Iterable[Row]) -> dict[str, int]:
    """Runs by how they ended. A stopped run and one that was never started are missing."""
    states = Counter(row.state for row in rows)
    runs = states.total()
    ended = {
        "scored": states[CellState.DONE],
        "unscored": states[CellState.UNSCORED],
        "errors": states[CellState.ERROR],
    }
    done = sum(ended.values())
    return {"runs": runs, "done": done, **ended, "missing": runs - done}


def figures(found: Loaded, group: Group, at: int, names: Iterable[str]) -> dict[str, Any]:
    compared = NO_COMPARISON if at in found.not_comparable else comparison_json(group.comparisons[at])
    return {
        **{name: interval_json(group.figures[at][name]) for name in names},
        "against_baseline": compared,
    }


def interval_json(interval: Interval | None) -> dict[str, float | None] | None:
    if interval is None:
        return None
    return {"value": exact(interval.value), "low": exact(interval.low), "high": exact(interval.high)}


def comparison_json(comparison: Comparison | None) -> dict[str, Any] | None:
    if comparison is None:
        return None
    return {
        "difference": exact(comparison.difference),
        "low": exact(comparison.low),
        "high": exact(comparison.high),
        "verdict": comparison.verdict.value,
        "tasks": comparison.tasks,
    }


def by_type(found: Loaded, group: Group) -> dict[str, Any]:
    return {
        "task_type": group.task_type,
        "tasks": group.tasks,
        "configurations": [
            {
                **named(entry),
                "baseline": entry.baseline,
                "scored": group.scored[at],
                **figures(found, group, at, BY_TYPE_FIGURES),
            }
            for at, entry in enumerate(found.configurations)
        ],
    }


def cells(found: Loaded, statistics: Statistics) -> list[dict[str, Any]]:
    states: dict[tuple[int, int], Counter[str]] = {}
    for row in found.rows:
        states.setdefault((row.task, row.configuration), Counter())[row.state] += 1
    return [
        {
            "task": task.key,
            "position": task.position,
            "configuration": entry.pk,
            **cell(statistics, at, place, None if place in found.not_comparable else found.baseline),
            "state": cell_state(
                states.get((task.pk, entry.pk), Counter()), ended=found.experiment.is_finished
            ),
        }
        for at, task in enumerate(found.tasks)
        for place, entry in enumerate(found.configurations)
    ]


def cell(statistics: Statistics, task: int, configuration: int, baseline: int | None) -> dict[str, Any]:
    """A cell's score and its difference from the baseline's on the same task."""
    table, noise = statistics.cells, statistics.noise
    difference = None
    if baseline is not None and configuration != baseline:
        difference = table.difference(task, configuration, baseline)
    runs = int(table.runs[task, configuration])
    is_noise = (
        difference is not None
        and noise is not None
        and baseline is not None
        and abs(difference) <= noise.smallest_difference(runs, int(table.runs[task, baseline]))
    )
    return {
        "value": exact(float(table.means[task, configuration])),
        "low": exact(float(table.lowest[task, configuration])),
        "high": exact(float(table.highest[task, configuration])),
        "scored": runs,
        "difference": exact(difference),
        "spread_is_noise": is_noise,
    }


def cell_state(states: Counter[str], *, ended: bool) -> str:
    """One word for all repeats of a cell: a score counts more than what is missing."""
    if states[CellState.DONE]:
        return "done"
    if not ended and any(states[state] for state in PENDING):
        return "waiting"
    if states[CellState.ERROR]:
        return "error"
    return "unscored" if states[CellState.UNSCORED] else "missing"


def noise(
    statistics: Statistics, repeats: int, judge_difference: float | None = None
) -> dict[str, Any] | None:
    """How much runs of a cell differ, and the smallest difference of two cells that this does not explain."""
    found = statistics.noise
    if found is None:
        return None
    return {
        "deviation": exact(found.deviation),
        "smallest_difference": exact(found.smallest_difference(repeats, repeats)),
        "cells": found.cells,
        "judge_difference": exact(judge_difference),
    }


def chance(comparisons: int) -> str:
    """What many comparisons would do by chance, and what is done about it."""
    if not comparisons:
        return ""
    if comparisons < 2:
        return "Without any true difference, 5 % of such experiments would still show one."
    alone = 1 - (1 - MISLEADING) ** comparisons
    return (
        f"With {comparisons} comparisons, separate 95 % intervals would show a difference by chance in up to "
        f"{alone * 100:.0f} % of experiments. These intervals are wider, so that at most 5 % do."
    )


def exact(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else round(value, DIGITS)
