"""One repair of a candidate on which the validation command failed, before it is judged."""

from dataclasses import replace

import pytest

from refinement.engine.steps import next_step
from refinement.engine.types import (
    Budget,
    EvaluationMode,
    Evaluator,
    Finish,
    History,
    Judge,
    Repair,
    Round,
    StopReason,
    Usage,
)
from tests.engine.given import checks, rubric

INVALID = Round(1, "text", invalid=True)


@pytest.mark.parametrize(
    ("entry", "step"),
    [
        (Round(1, "text"), Judge(1)),
        (INVALID, Repair(1)),
        (replace(INVALID, number=3), Repair(3)),
        (replace(INVALID, invalid=False, repaired=True), Judge(1)),  # to be validated again
        (replace(INVALID, repaired=True), Judge(1)),  # one repair only: judged as a failure
        (replace(INVALID, by_hand=True), Judge(1)),  # a person's text is not replaced
    ],
)
@pytest.mark.parametrize("profile", ["wiggum", "ralph", "simmer"])
def test_an_invalid_candidate_is_repaired_once(profile, entry, step):
    assert next_step(rubric(profile), History((entry,))) == step


@pytest.mark.parametrize(
    ("entry", "ends"),
    [(INVALID, StopReason.BUDGET_CALLS), (replace(INVALID, repaired=True), Judge(1))],
)
def test_a_repair_is_a_call_that_the_budget_has_to_pay_for(entry, ends):
    of = rubric("ralph")
    of = replace(of, criteria=(), checks=checks("a"), policy=replace(of.policy, budget=Budget(calls=1)))
    step = next_step(of, History((entry,), usage=Usage(calls=1)))
    assert (step.reason if isinstance(step, Finish) else step) == ends


@pytest.mark.parametrize(("timeout", "limit"), [(1, 1), (60, 60), (61, 60), (3600, 60)])
def test_validation_is_cheap(timeout, limit):
    assert Evaluator(("a",), timeout=timeout).validation_timeout == limit


@pytest.mark.parametrize(
    ("mode", "command", "validation", "validates"),
    [
        ("runnable", ("a",), ("b",), True),
        ("runnable", ("a",), (), False),
        ("hybrid", (), ("b",), False),
        ("judge_only", ("a",), ("b",), False),
    ],
)
def test_a_rubric_validates_only_where_it_runs_a_command(mode, command, validation, validates):
    of = replace(rubric("wiggum"), evaluation_mode=EvaluationMode(mode))
    of = replace(of, evaluator=Evaluator(command, validation=validation))
    assert of.validates is validates
