"""What people do with an experiment: pause, resume, cancel, run what is missing, add a configuration."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from refinement.execution.events import actor_name
from refinement.execution.reports import report_request
from refinement.models import (
    CellState,
    Configuration,
    Experiment,
    ExperimentRun,
    ExperimentStatus,
    ReportKind,
    Run,
    User,
)
from refinement.services.audit import audit_record
from refinement.services.experiments.cells import NO_FIGURES, cell_values
from refinement.services.experiments.checking import (
    ConfigurationSpec,
    budget_cleaned,
    configurations_check,
    size_check,
)
from refinement.services.experiments.creating import BATCH, cells_create, configuration_row
from refinement.services.experiments.dealing import budget_reason
from refinement.services.experiments.waking import experiment_wake
from refinement.services.notices.creating import notice_experiment
from refinement.services.runs.lifecycle import WrongState
from refinement.services.runs.together import runs_cancel, runs_pause, runs_resume
from refinement.services.webhooks.events import hook_experiment_finished

Status = ExperimentStatus
MISSING = (CellState.ERROR, CellState.UNSCORED, CellState.CANCELLED)
FIELDS = ["status", "status_reason", "finished_at"]


@transaction.atomic
def experiment_pause(experiment: Experiment, user: User | None) -> Experiment:
    """Start no more runs and pause running ones; calls in progress are aborted. Raises WrongState."""
    change = Change.of(experiment, user, "pause")
    change.require([Status.RUNNING], "only a running experiment can be paused.")
    paused = runs_pause(current_runs(change.row), user)
    return change.apply(Status.PAUSED, runs=len(paused))


@transaction.atomic
def experiment_resume(
    experiment: Experiment, user: User | None, *, token_budget: int | None = None
) -> Experiment:
    """Continue a paused experiment and its paused runs. Raises WrongState, ValidationError.

    `token_budget` replaces the experiment's; one that is used up has to be raised.
    """
    change = Change.of(experiment, user, "resume")
    change.require([Status.PAUSED], "only a paused experiment can be resumed.")
    if token_budget is not None:
        change.set_budget(token_budget)
    if reason := budget_reason(change.row):
        raise WrongState(f"{reason} Raise it to resume." if change.row.token_budget else reason)
    resumed = runs_resume(current_runs(change.row), user)
    return change.apply(Status.RUNNING, runs=len(resumed))


@transaction.atomic
def experiment_cancel(experiment: Experiment, user: User | None) -> Experiment:
    """Stop the experiment and all its unfinished runs, within a second or two. Raises WrongState."""
    change = Change.of(experiment, user, "cancel")
    change.require([Status.RUNNING, Status.PAUSED], "it cannot be stopped.")
    cancelled = runs_cancel(current_runs(change.row), user)
    for run in cancelled:
        ExperimentRun.objects.filter(run=run).update(**cell_values(run))
    row = change.apply(Status.CANCELLED, runs=len(cancelled))
    notice_experiment(row, f"was stopped by {actor_name(user)}.", by=user)
    hook_experiment_finished(row)
    return row


@transaction.atomic
def experiment_run_missing(experiment: Experiment, user: User | None) -> int:
    """Run every cell again that has no result: it failed, was unscored or stopped, or never started.

    Returns how many runs that will start. Cells with a run are replaced by new ones; the old runs stay in
    the list of runs. A paused experiment is resumed. Raises WrongState.
    """
    change = Change.of(experiment, user, "run_missing")
    cells = ExperimentRun.objects.filter(experiment=change.row, replaced=False)
    started = change.row.status == Status.RUNNING
    replaced = cells_replace(list(cells.filter(state__in=MISSING)))
    count = replaced if started else cells.filter(state=CellState.WAITING).count()
    if not count:
        raise WrongState("Nothing is missing: every task has a result or a run in progress.")
    if reason := budget_reason(change.row):
        raise WrongState(reason)
    if change.row.status == Status.PAUSED:
        runs_resume(current_runs(change.row), user)
    change.apply(Status.RUNNING, runs=count)
    return count


def cells_replace(cells: Sequence[ExperimentRun]) -> int:
    """Put a new cell in the place of each of these; one that has no run is used again."""
    keys = [cell.pk for cell in cells if cell.run_id is not None]
    ExperimentRun.objects.filter(pk__in=keys).update(replaced=True)
    fresh = [
        ExperimentRun(
            experiment_id=cell.experiment_id,
            configuration_id=cell.configuration_id,
            task_id=cell.task_id,
            repeat=cell.repeat,
            order=cell.order,
        )
        for cell in cells
        if cell.run_id is not None
    ]
    ExperimentRun.objects.bulk_create(fresh, batch_size=BATCH)
    never = [cell.pk for cell in cells if cell.run_id is None]
    ExperimentRun.objects.filter(pk__in=never).update(**NO_FIGURES, state=CellState.WAITING)
    return len(cells)


def configuration_add(experiment: Experiment, spec: ConfigurationSpec, user: User | None) -> Configuration:
    """Add a configuration, and start its runs. A finished experiment continues.

    May ask model servers for their context lengths: not in a transaction. Raises ValidationError, WrongState.
    """
    tasks = list(experiment.suite_version.tasks.order_by("position"))
    names = experiment.configurations.values_list("name", flat=True)
    (checked,) = configurations_check(experiment.project, [spec], tasks, taken=names)
    with transaction.atomic():
        change = Change.of(experiment, user, "configuration_add")
        row = change.row
        change.require(
            [Status.RUNNING, Status.PAUSED, Status.FINISHED],
            "run what is missing before adding a configuration.",
        )
        before = list(row.configurations.order_by("position"))
        size_check(tasks=len(tasks), configurations=len(before) + 1, repeats=row.repeats)
        if checked.name.casefold() in {other.name.casefold() for other in before}:
            raise ValidationError({"configurations": f"{checked.name}: This name is taken."})
        if row.status == Status.FINISHED and (reason := budget_reason(row)):
            raise ValidationError({NON_FIELD_ERRORS: reason})
        position = before[-1].position + 1 if before else 1
        added = configuration_row(row, checked, position, baseline=False)
        added.save(force_insert=True)
        cells_create(added, tasks, row.repeats, among=position)
        status = Status.PAUSED if row.status == Status.PAUSED else Status.RUNNING
        change.apply(status, reason=row.status_reason, configuration=added.name)
        if spec.baseline:
            baseline_choose(added, user)
        return added


@transaction.atomic
def baseline_choose(configuration: Configuration, user: User | None) -> Configuration:
    """Compare the others with this configuration from now on."""
    change = Change.of(configuration.experiment, user, "baseline")
    others = Configuration.objects.filter(experiment=change.row, baseline=True)
    before = list(others.values_list("name", flat=True))
    others.update(baseline=False)
    Configuration.objects.filter(pk=configuration.pk).update(baseline=True)
    configuration.baseline = True
    change.audit({"baseline": before}, {"baseline": configuration.name})
    change.report()
    return configuration


@transaction.atomic
def budget_change(experiment: Experiment, token_budget: int | None, user: User | None) -> Experiment:
    """Set or remove the token budget. A paused experiment is resumed separately. Raises ValidationError."""
    change = Change.of(experiment, user, "budget")
    before = change.row.token_budget
    change.set_budget(token_budget)
    change.audit({"token_budget": before}, {"token_budget": token_budget})
    return change.row


def current_runs(experiment: Experiment) -> QuerySet[Run]:
    """The runs that count: not those that were replaced."""
    return Run.objects.filter(experiment_run__experiment=experiment, experiment_run__replaced=False)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of an experiment whose row is locked until the transaction ends."""

    row: Experiment
    user: User | None
    verb: str

    @classmethod
    def of(cls, experiment: Experiment, user: User | None, verb: str) -> "Change":
        rows = Experiment.objects.select_for_update(of=("self",)).select_related("project", "suite_version")
        return cls(rows.get(pk=experiment.pk), user, verb)

    def require(self, allowed: Collection[str], otherwise: str) -> None:
        """Raises WrongState, which names the status, unless it is one of these."""
        if self.row.status not in allowed:
            state = Status(self.row.status).label.lower()
            raise WrongState(f"The experiment “{self.row.name}” is {state}; {otherwise}")

    def apply(self, status: str, *, reason: str = "", **about: object) -> Experiment:
        """Set the status, record it, and have workers and the report follow it."""
        row, before = self.row, self.row.status
        ended = status in (Status.FINISHED, Status.CANCELLED)
        row.status, row.status_reason = status, reason
        row.finished_at = timezone.now() if ended else None
        row.save(update_fields=FIELDS)
        self.audit({"status": before}, {"status": status, **about})
        self.report(at_once=ended)
        experiment_wake(row.pk)
        return row

    def set_budget(self, token_budget: int | None) -> None:
        self.row.token_budget = budget_cleaned(token_budget)
        self.row.save(update_fields=["token_budget"])

    def report(self, *, at_once: bool = False) -> None:
        report_request(
            project=self.row.project, kind=ReportKind.EXPERIMENT, subject=self.row.pk, at_once=at_once
        )

    def audit(self, before: dict[str, object], after: dict[str, object]) -> None:
        audit_record(
            action=f"experiment.{self.verb}",
            object_type="experiment",
            object_id=self.row.pk,
            project=self.row.project,
            user=self.user,
            before=before,
            after=after,
        )
