"""An experiment's runs as plain values, for files and the API."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from refinement.engine.metrics import suite_composite
from refinement.models import CellState, Experiment, ExperimentRun

CHUNK = 2_000
RELATED = ("task", "configuration")
FIELDS = (
    "task__key", "task__task_type", "configuration__position", "configuration__name",
    "configuration__baseline", "repeat", "state", "run_id", "r1", "criteria_met", "criteria_total",
    "passed", "best", "rounds", "tokens", "seconds", "cost", "problem",
)  # fmt: skip


def current_rows(experiment: Experiment) -> QuerySet[ExperimentRun]:
    """Its runs without replaced ones, in order of tasks, configurations and repeats."""
    rows = ExperimentRun.objects.filter(experiment=experiment, replaced=False)
    lean = rows.select_related(*RELATED).only(*FIELDS, "task__position")
    return lean.order_by("task__position", "configuration__position", "repeat")


def cell_rows(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """Every run with its figures; those of unscored ones are empty."""
    for row in current_rows(experiment).iterator(chunk_size=CHUNK):
        yield run_values(row)


def run_values(row: ExperimentRun) -> dict[str, Any]:
    scored = row.state == CellState.DONE
    rate = row.criteria_met / Decimal(row.criteria_total) if row.criteria_total else Decimal(1)
    figures = {
        "r1": row.r1,
        "criteria_met": row.criteria_met,
        "criteria_total": row.criteria_total,
        "criteria_rate": float(rate),
        "composite": float(suite_composite(row.r1 or Decimal(0), rate)),
        "passed": row.passed,
        "best": row.best,
    }
    return {
        "task": row.task.key,
        "task_type": row.task.task_type,
        "letter": row.configuration.letter,
        "configuration": row.configuration.name,
        "baseline": row.configuration.baseline,
        "repeat": row.repeat,
        "state": row.state,
        "run": row.run_id,
        **(figures if scored else dict.fromkeys(figures)),
        "rounds": row.rounds,
        "tokens": row.tokens,
        "seconds": row.seconds,
        "cost": row.cost,
        "problem": row.problem,
    }
