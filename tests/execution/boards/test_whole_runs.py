"""A board on the wire."""

from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges, PanelJudge
from refinement.execution.advancing import run_advance
from refinement.models import BoardVerdict, Call
from tests.loopback.replies import made_to_fit

pytestmark = pytest.mark.django_db(transaction=True)


def test_smoke(scene):
    base = rubric_for("simmer")
    panel = tuple(PanelJudge(n, f"look {n}") for n in ("Ada", "Ben", "Cleo"))
    of = replace(base, judges=Judges(JudgeMode.BOARD, panel), policy=replace(base.policy, max_rounds=2))
    scene.server.replies = made_to_fit()
    run = scene.launch(of)
    run_advance(run.pk)
    run.refresh_from_db()
    print(run.status, run.outcome, run.why, run.calls_made)
    for call in Call.objects.order_by("id"):
        print(
            call.round_number,
            call.role,
            call.purpose,
            call.seat,
            call.attempt,
            call.rung,
            call.complaint[:60],
            call.error_message[:80],
        )
    for row in BoardVerdict.objects.all():
        print(row.round_id, row.seat, row.scores, row.stances)
    for r in run.rounds.all():
        print(r.number, r.composite, r.scores, r.spread, r.summary, r.key_change)
    assert run.outcome == "DONE"
    assert run.calls_made == 7 + 1 + 8


def test_composed(scene):
    base = rubric_for("simmer")
    of = replace(base, judges=Judges(JudgeMode.BOARD), policy=replace(base.policy, max_rounds=1))
    scene.server.replies = made_to_fit()
    run = scene.launch(of)
    run_advance(run.pk)
    run.refresh_from_db()
    print(run.status, run.outcome, run.why, run.calls_made, list(run.panel.values_list("name")))
    assert run.outcome == "DONE"
