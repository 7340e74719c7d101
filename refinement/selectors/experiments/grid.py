"""How far experiments are: their cells by state. Figures with intervals come from `results.py`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Sum

from refinement.models import (
    CellState,
    Experiment,
    ExperimentRun,
    Report,
    ReportKind,
    Run,
    RunStatus,
)

ENDED = (CellState.DONE, CellState.UNSCORED, CellState.ERROR, CellState.CANCELLED)


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
