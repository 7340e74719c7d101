"""Runs with stored scores, and replays of them."""

from decimal import Decimal
from typing import Any

from django.utils import timezone

from refinement.models import Measurement, Round, Run, Verdict
from refinement.services.runs.creating import run_create
from refinement.services.trust.measurements.creating import NewItem
from tests.execution.trials.given import JUDGE, TASK, Table
from tests.services.trust.measurements.given import a_measurement


def a_judged_run(table: Table, *composites: float, **more: Any) -> Run:
    """A finished run whose rounds have these scores in every criterion."""
    run = run_create(
        project=table.project,
        version=more.pop("version", None) or table.version,
        task=TASK,
        producer=JUDGE,
        judge=JUDGE,
        **more,
    )
    keys = [criterion["key"] for criterion in run.snapshot["criteria"]]
    now = timezone.now()
    for number, score in enumerate(composites, start=1):
        said = Decimal(str(score))
        row = Round.objects.create(
            run=run,
            number=number,
            origin="seed" if number == 1 else "revision",
            candidate=f"# Round {number} of run {run.pk}\n\nText.",
            candidate_chars=30,
            judged_at=now,
            composite=said,
            scores=dict.fromkeys(keys, str(said)),
        )
        Verdict.objects.create(
            round=row,
            judge=JUDGE.model,
            scores=[{"key": key, "score": str(said), "reasoning": "", "improvement": ""} for key in keys],
        )
    Run.objects.filter(pk=run.pk).update(
        status="finished",
        finished_at=now,
        outcome="FAIL",
        stop_reason="max_rounds",
        rounds_judged=len(composites),
        best=max(composites, default=None),
        best_round=1,
        r1=composites[0] if composites else None,
    )
    run.refresh_from_db()
    return run


def a_replay(table: Table, *runs: Run, **more: Any) -> Measurement:
    """A replay of all rounds of these runs."""
    rows = Round.objects.filter(run__in=runs).order_by("run", "number").select_related("run")
    items = [NewItem(row.candidate, row.run.task, round=row) for row in rows]
    return a_measurement(table, **{"kind": "replay", "items": items, **more})
