"""Checks and templates that take too long in a run: one clear failure, and the lease is kept."""

import json
from dataclasses import replace

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Check
from refinement.execution import calls as calling
from tests.execution.wire.stage import Stage, verdict

RUBRIC = rubric_for("wiggum")
ONE_ROUND = replace(RUBRIC, policy=replace(RUBRIC.policy, max_rounds=1))
UNIQUE = Check("unique", "json-schema", {"schema": {"uniqueItems": True}})
AFTER = Check("after", "contains", {"text": "a"})
OBJECTS = json.dumps([{"a": number} for number in range(5_000)])
LOOPS = (
    "{% for a in criteria %}{% for b in criteria %}{% if "
    + " or ".join(["(a.description|upper|lower|title|upper|lower) == 'x'"] * 30)
    + " %}y{% endif %}{% endfor %}{% endfor %}x"
)


def test_a_check_that_never_ends_fails_and_the_run_goes_on(stage: Stage, monkeypatch):
    monkeypatch.setattr(calling, "RENEW_SECONDS", 0.1)
    renewed = []
    renew = calling.lease_renew
    monkeypatch.setattr(calling, "lease_renew", lambda lease: renewed.append(lease) or renew(lease))
    stage.says(judge=[verdict(RUBRIC, 9.5)])

    run = stage.play(replace(ONE_ROUND, checks=(UNIQUE, AFTER)), seed=OBJECTS)

    assert (run.status, run.rounds_judged) == ("finished", 1)
    unique, after = run.rounds.get().check_results.order_by("id")
    assert not unique.passed
    assert "takes longer than" in unique.message
    assert "“unique” before it did not end" in after.message
    assert len(renewed) >= 2
    assert len(stage.asked("judge")) == 1


def test_a_template_that_cannot_be_rendered_ends_the_run_with_its_reason(stage: Stage):
    stage.says(judge=[verdict(RUBRIC, 9.5)])

    run = stage.play(replace(ONE_ROUND, templates={"judge": "{{ 9**(9**9) }}"}), seed="A text.")

    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    assert "Pow is not available" in run.failure_message
    assert stage.asked("judge") == []


def test_a_template_that_never_ends_ends_the_run_with_its_reason(stage: Stage):
    long = RUBRIC.criteria + tuple(
        replace(RUBRIC.criteria[0], key=f"k{number}", description="Depth. " * 400) for number in range(60)
    )
    rubric = replace(ONE_ROUND, criteria=long, templates={"judge": LOOPS})

    run = stage.play(rubric, seed="A text.")

    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    assert "takes longer than 1 second" in run.failure_message
    assert stage.asked("judge") == []
