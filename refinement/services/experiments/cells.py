"""Keeps the cells of experiments in step with their runs, in the transaction that changes the run.

Locks are taken in one order: experiment, run, cell, report. So nothing here locks an experiment.
"""

from decimal import Decimal
from typing import Any

from refinement.engine.codec import rubric_from_json
from refinement.engine.metrics import criteria_met
from refinement.engine.results import Assessment
from refinement.engine.types import Outcome, Role, Rubric
from refinement.execution.reports import report_outdate
from refinement.models import (
    CellState,
    CheckResult,
    ExperimentRun,
    ReportKind,
    Round,
    Run,
    RunStatus,
)
from refinement.selectors.runs.history import check_result_of
from refinement.services.experiments.waking import experiment_wake

TEN = Decimal(10)
NO_FIGURES: dict[str, Any] = {
    "problem": "",
    "r1": None,
    "best": None,
    "criteria_met": 0,
    "criteria_total": 0,
    "passed": False,
    "rounds": 0,
    "tokens": 0,
    "seconds": Decimal(0),
    "cost": None,
}


def cell_follow(run: Run) -> None:
    """Updates the run's cell, if it has one, and has the experiment go on.

    `run` is the row as it is stored now. Call it in the transaction that has changed the run.
    """
    if run.experiment_id is None:
        return
    cells = ExperimentRun.objects.filter(run=run)
    if not run.is_finished:
        cells = cells.exclude(state=CellState.RUNNING)  # pausing changes nothing; a retry does
    if cells.update(**cell_values(run)):
        # Has the figures computed again, and the next runs started.
        report_outdate(project_id=run.project_id, kind=ReportKind.EXPERIMENT, subject=run.experiment_id)
        experiment_wake(run.experiment_id)


def cell_values(run: Run) -> dict[str, Any]:
    """The fields of the run's cell. An unfinished run has no figures: they might still change."""
    if not run.is_finished:
        return {**NO_FIGURES, "state": CellState.RUNNING}
    rubric = rubric_from_json(run.snapshot)
    state = state_of(run)
    met = met_in_best(run, rubric)
    return {
        "state": state,
        "problem": problem_of(run, state),
        "r1": on_ten(run.r1, rubric),
        "best": on_ten(run.best, rubric),
        "criteria_met": sum(met),
        "criteria_total": len(met),
        "passed": run.outcome == Outcome.PASS,
        "rounds": run.rounds_judged,
        "tokens": run.tokens,
        "seconds": run.model_seconds,
        "cost": run.cost,
    }


def state_of(run: Run) -> CellState:
    """The state of a finished run's cell. A judge that cannot be read is no score of 0: it is unscored."""
    if run.outcome == Outcome.CANCELLED:
        return CellState.CANCELLED
    if run.outcome == Outcome.ERROR:
        return CellState.UNSCORED if run.failure_role == Role.JUDGE else CellState.ERROR
    return CellState.DONE if run.r1 is not None else CellState.UNSCORED


def problem_of(run: Run, state: CellState) -> str:
    if state == CellState.DONE:
        return ""
    most = ExperimentRun._meta.get_field("problem").max_length
    return (run.failure_message or run.why)[:most]


def on_ten(score: Decimal | None, rubric: Rubric) -> Decimal | None:
    """A score on the scale from 0 to 10: 0.7 of 0–1 and 7 of 1–10 are both 7."""
    if score is None:
        return None
    scale = rubric.scale
    if scale.minimum < 0 or scale.maximum <= 0:
        return scale.normalised(score) * TEN
    return score * TEN / scale.maximum


def met_in_best(run: Run, rubric: Rubric) -> tuple[bool, ...]:
    """Which checks and criteria the best round met; empty if no round was judged."""
    best = Round.objects.filter(run=run, number=run.best_round or 0, judged_at__isnull=False)
    key, composite, scores = best.values_list("pk", "composite", "scores").first() or (None, None, None)
    if composite is None:
        return ()
    checks = CheckResult.objects.filter(round=key).order_by("position")
    assessment = Assessment(
        composite=composite,
        scores={name: Decimal(score) for name, score in (scores or {}).items()},
        checks=tuple(check_result_of(check) for check in checks),
    )
    return criteria_met(rubric, assessment)


def is_first_to_wait(run: Run) -> bool:
    """Whether the run is no part of an experiment, or the first of its runs that wait for a model server."""
    if run.experiment_id is None:
        return True
    waiting = Run.objects.filter(experiment=run.experiment_id, status=RunStatus.WAITING, step_failures__gt=0)
    return not waiting.exclude(pk=run.pk).exists()
