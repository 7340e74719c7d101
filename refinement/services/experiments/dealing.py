"""Starts an experiment's runs, a few at a time, and ends it when all of them have ended.

A run exists only once it is started, so that single runs do not wait behind a thousand others and a pause has
nothing to undo. Only as many runs are started as workers can carry out at once (`window_of`); when one ends,
a message has the next one started.

The rows are the truth: each call locks the experiment, counts its unfinished runs and fills the window, in
one short transaction. So a message may be lost, late or doubled, and a worker may be killed at any point.
`experiments_sweep` sends lost messages again.
"""

import logging
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import Error as AnyDatabaseError
from django.db import transaction

from refinement.engine.codec import BadRubric
from refinement.engine.types import Rubric
from refinement.execution.reports import report_request
from refinement.models import (
    CellState,
    Experiment,
    ExperimentRun,
    ExperimentStatus,
    ReportKind,
    Run,
    RunStatus,
)
from refinement.selectors.experiments.definitions import (
    clerk_of,
    definition_changed,
    definition_for_task,
    judge_of,
    producer_of,
    sources_for_task,
)
from refinement.selectors.experiments.progress import tokens_used
from refinement.selectors.experiments.windows import window_of
from refinement.selectors.projects.budgets import budget_of
from refinement.services.experiments.ending import experiment_finish, experiment_pause_itself
from refinement.services.experiments.waking import experiment_wake
from refinement.services.runs.creating import run_create

log = logging.getLogger("wiggum.experiments")
AT_ONCE = 8  # runs per transaction, which locks SQLite's database
MOST_SWEPT = 100
GOING = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING)


def experiment_advance(experiment_id: int) -> int:
    """Starts runs until the window is full; ends the experiment if all have ended. Returns how many started.

    Safe to call any number of times, by any number of workers.
    """
    dealt = runs_deal(experiment_id)
    total = dealt.cells
    while dealt.more:
        dealt = runs_deal(experiment_id)
        total += dealt.cells
    return total


class Dealt(NamedTuple):
    """What one transaction has done. `more`: there may be places left, or all runs may have ended."""

    cells: int
    more: bool


NOTHING = Dealt(0, more=False)


@transaction.atomic
def runs_deal(experiment_id: int, *, status: str = RunStatus.QUEUED, room: int | None = None) -> Dealt:
    """Starts up to AT_ONCE runs. A run that cannot be started leaves its place to the next one.

    `status` and `room` are for a process that carries out the runs itself.
    """
    experiment = (
        Experiment.objects.select_for_update(of=("self",))
        .select_related("project", "suite_version", "created_by")
        .filter(pk=experiment_id, status__in=[ExperimentStatus.RUNNING, ExperimentStatus.PAUSED])
        .first()
    )
    if experiment is None:
        return NOTHING
    cells = ExperimentRun.objects.filter(experiment=experiment, replaced=False)
    waiting = cells.filter(state=CellState.WAITING)
    if not waiting.exists():
        if not cells.filter(state=CellState.RUNNING).exists():
            experiment_finish(experiment)
        return NOTHING
    if experiment.status == ExperimentStatus.PAUSED:
        return NOTHING
    if room is None:
        room = window_of(experiment) - runs_under_way(experiment)
    if room <= 0:
        return NOTHING
    if reason := budget_reason(experiment):
        experiment_pause_itself(experiment, reason)
        return NOTHING
    chosen = waiting.select_related("configuration__rubric_version", "task").order_by("order", "pk")
    rubrics: dict[int, Rubric] = {}  # by configuration
    at_once = min(room, AT_ONCE)
    started = [cell_start(experiment, cell, status, rubrics) for cell in chosen[:at_once]]
    return Dealt(len(started), more=at_once < room or not all(started))


def runs_under_way(experiment: Experiment) -> int:
    """The experiment's runs that need a worker: not those that are paused or ask a person."""
    going = ExperimentRun.objects.filter(experiment=experiment, replaced=False, state=CellState.RUNNING)
    return going.filter(run__status__in=GOING).count()


def budget_reason(experiment: Experiment) -> str:
    """Why no more runs may be started, as the experiment's or the project's budget is used up; else empty."""
    limit = experiment.token_budget
    if limit is not None and (used := tokens_used(experiment)) >= limit:
        return f"The experiment's budget is used up: {used:,} of {limit:,} tokens."
    return budget_of(experiment.project).refusal


def cell_start(experiment: Experiment, cell: ExperimentRun, status: str, rubrics: dict[int, Rubric]) -> bool:
    """Creates the cell's run. If that is impossible, the cell says why, and the others go on."""
    try:
        with transaction.atomic():
            run = cell_run_create(experiment, cell, status, rubrics)
    except AnyDatabaseError:
        raise
    except (ValidationError, BadRubric, ValueError) as problem:
        words = " ".join(problem.messages) if isinstance(problem, ValidationError) else str(problem)
        cell_refuse(experiment, cell, words)
    except Exception as error:
        log.exception("experiment=%s cell=%s could not be started", experiment.pk, cell.pk)
        cell_refuse(experiment, cell, f"Unexpected error ({type(error).__name__}). Check the worker's log.")
    else:
        ExperimentRun.objects.filter(pk=cell.pk).update(run=run, state=CellState.RUNNING)
        return True
    return False


def cell_run_create(
    experiment: Experiment, cell: ExperimentRun, status: str, rubrics: dict[int, Rubric]
) -> Run:
    configuration, task = cell.configuration, cell.task
    used = rubrics.get(configuration.pk)
    if used is None:
        used = definition_changed(configuration.rubric_version, configuration.changes)
        rubrics[configuration.pk] = used
    return run_create(
        project=experiment.project,
        version=configuration.rubric_version,
        definition=definition_for_task(used, task.checks),
        task=task.task,
        seed=task.seed,
        sources=sources_for_task(configuration, task),
        producer=producer_of(configuration),
        judge=judge_of(configuration),
        clerk=clerk_of(configuration),
        user=experiment.created_by,
        title=task.title,
        task_type=task.task_type,
        tags=task.tags,
        status=status,
        experiment=experiment,
    )


def cell_refuse(experiment: Experiment, cell: ExperimentRun, why: str) -> None:
    most = ExperimentRun._meta.get_field("problem").max_length
    ExperimentRun.objects.filter(pk=cell.pk).update(
        state=CellState.ERROR, problem=f"The run could not be started. {why}"[:most]
    )
    report_request(project=experiment.project, kind=ReportKind.EXPERIMENT, subject=experiment.pk)


def experiments_sweep() -> int:
    """Sends a message for each running experiment that has something to start or to end; returns how many."""
    sent = 0
    unfinished = Experiment.objects.filter(status__in=[ExperimentStatus.RUNNING, ExperimentStatus.PAUSED])
    for experiment in unfinished.order_by("pk")[:MOST_SWEPT]:
        if is_stuck(experiment):
            experiment_wake(experiment.pk)
            sent += 1
    return sent


def is_stuck(experiment: Experiment) -> bool:
    """Whether a run could be started now, or the experiment ended."""
    cells = ExperimentRun.objects.filter(experiment=experiment, replaced=False)
    if cells.filter(state=CellState.WAITING).exists():
        is_running = experiment.status == ExperimentStatus.RUNNING
        return is_running and runs_under_way(experiment) < window_of(experiment)
    return not cells.filter(state=CellState.RUNNING).exists()
