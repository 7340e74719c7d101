"""The live grid of an experiment: tasks × configurations with the state of every cell.

Five queries, however large the experiment is. Figures with intervals come from `results.py`.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, Max, Min, Q, Sum

from refinement.models import (
    CellState,
    Configuration,
    Experiment,
    ExperimentRun,
    Report,
    ReportKind,
    Run,
    RunStatus,
    SuiteTask,
)
from refinement.selectors.reviews.blindness import hidden_runs

# A cell with several repeats shows the first of these that one of them has.
SHOWN_FIRST = (
    CellState.RUNNING,
    CellState.WAITING,
    CellState.ERROR,
    CellState.UNSCORED,
    CellState.CANCELLED,
    CellState.DONE,
)
ENDED = (CellState.DONE, CellState.UNSCORED, CellState.ERROR, CellState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Cell:
    """A task under a configuration: how many of its repeats are in each state, and their mean scores."""

    task: int
    configuration: int
    states: Mapping[str, int]
    r1: Decimal | None = None  # means of the repeats that are done, 0 to 10
    best: Decimal | None = None
    low: Decimal | None = None  # the lowest and the highest r1
    high: Decimal | None = None
    run: int | None = None  # the newest run

    @property
    def state(self) -> str:
        return next((state.value for state in SHOWN_FIRST if self.states.get(state)), CellState.WAITING.value)

    @property
    def repeats(self) -> int:
        return sum(self.states.values())

    @property
    def done(self) -> int:
        return self.states.get(CellState.DONE, 0)


@dataclass(frozen=True, slots=True)
class Row:
    """A task with its cell under each configuration, in their order."""

    task: SuiteTask
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the experiment is."""

    states: Mapping[str, int]
    tokens: int  # of ended runs
    seconds: Decimal
    cost: Decimal | None
    held: int = 0  # runs that are paused or ask a person

    @property
    def total(self) -> int:
        return sum(self.states.values())

    @property
    def ended(self) -> int:
        return sum(self.states.get(state, 0) for state in ENDED)

    @property
    def done(self) -> int:
        return self.states.get(CellState.DONE, 0)

    @property
    def missing(self) -> int:
        """Ended without a result: what “Run what is missing” runs again."""
        return self.ended - self.done

    @property
    def percent(self) -> int:
        return 100 * self.ended // self.total if self.total else 0


@dataclass(frozen=True, slots=True)
class Grid:
    """Everything that the live grid shows."""

    experiment: Experiment
    configurations: list[Configuration]
    rows: list[Row]
    progress: Progress
    by_configuration: Mapping[int, Mapping[str, int]] = field(default_factory=dict)


def grid_of(experiment: Experiment) -> Grid:
    """The grid in the suite's order of tasks."""
    configurations = list(experiment.configurations.select_related("rubric_version__rubric"))
    tasks = SuiteTask.objects.filter(version=experiment.suite_version_id).order_by("position")
    lean = tasks.only("version_id", "position", "key", "title", "task_type", "tags")
    cells = cells_of(experiment)
    counts = {row.pk: Counter[str]() for row in configurations}
    rows = []
    for task in lean:
        found = tuple(cells.get((task.pk, row.pk)) or Cell(task.pk, row.pk, {}) for row in configurations)
        for cell in found:
            counts[cell.configuration].update(cell.states)
        rows.append(Row(task, found))
    return Grid(experiment, configurations, rows, progress_of(experiment), counts)


def cells_of(experiment: Experiment) -> dict[tuple[int, int], Cell]:
    """Every cell with a run or a place for one, by task and configuration. One query."""
    current = ExperimentRun.objects.filter(experiment=experiment, replaced=False).order_by()
    # The state of a run that the reader scores blind is shown, its scores are not.
    hidden = hidden_runs()
    shown = ~Q(run__in=hidden) if hidden else None
    groups = current.values("task", "configuration", "state").annotate(
        count=Count("pk"),
        mean_r1=Avg("r1", filter=shown),
        mean_best=Avg("best", filter=shown),
        low=Min("r1", filter=shown),
        high=Max("r1", filter=shown),
        newest=Max("run"),
    )
    found: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for group in groups:
        found.setdefault((group["task"], group["configuration"]), []).append(group)
    return {key: cell_of(key, parts) for key, parts in found.items()}


def cell_of(key: tuple[int, int], parts: Collection[Mapping[str, Any]]) -> Cell:
    done: Mapping[str, Any] = next((part for part in parts if part["state"] == CellState.DONE), {})
    return Cell(
        *key,
        states={part["state"]: part["count"] for part in parts},
        r1=done.get("mean_r1"),
        best=done.get("mean_best"),
        low=done.get("low"),
        high=done.get("high"),
        run=max((part["newest"] for part in parts if part["newest"] is not None), default=None),
    )


def progress_of(experiment: Experiment) -> Progress:
    """Two queries."""
    current = ExperimentRun.objects.filter(experiment=experiment, replaced=False).order_by()
    groups = list(
        current.values("state").annotate(
            count=Count("pk"), tokens=Sum("tokens"), seconds=Sum("seconds"), cost=Sum("cost")
        )
    )
    held = Run.objects.filter(
        experiment_run__experiment=experiment,
        experiment_run__replaced=False,
        experiment_run__state=CellState.RUNNING,
        status=RunStatus.PAUSED,
    )
    costs = [group["cost"] for group in groups if group["cost"] is not None]
    return Progress(
        states={group["state"]: group["count"] for group in groups},
        tokens=sum(group["tokens"] for group in groups),
        seconds=sum((group["seconds"] for group in groups), Decimal(0)),
        cost=sum(costs, Decimal(0)) if costs else None,
        held=held.count(),
    )


@dataclass(frozen=True, slots=True)
class Glance:
    """What changes when an experiment's page has to change."""

    status: str
    reason: str
    states: tuple[tuple[str, int], ...]
    report: int  # the count of its report that is computed
    ended: bool


def glances_at(experiment_ids: Collection[int]) -> dict[int, Glance]:
    """The state of these experiments, without deleted ones. Three queries."""
    rows = Experiment.objects.filter(pk__in=experiment_ids).order_by()
    counts: dict[int, list[tuple[str, int]]] = {}
    groups = (
        ExperimentRun.objects.filter(experiment__in=experiment_ids, replaced=False)
        .order_by()
        .values_list("experiment", "state")
        .annotate(count=Count("pk"))
    )
    for experiment, state, count in groups:
        counts.setdefault(experiment, []).append((state, count))
    reports = dict(
        Report.objects.filter(kind=ReportKind.EXPERIMENT, subject__in=experiment_ids).values_list(
            "subject", "computed"
        )
    )
    return {
        pk: Glance(
            status,
            reason,
            tuple(sorted(counts.get(pk, []))),
            reports.get(pk, 0),
            ended=finished_at is not None,
        )
        for pk, status, reason, finished_at in rows.values_list(
            "pk", "status", "status_reason", "finished_at"
        )
    }
