"""What a run may cost: ranges that hold what really happens, and what is said before a launch."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.providers.base import ModelInfo
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.launch.estimates import Range, estimate_of
from refinement.selectors.launch.warnings import Plan, warnings_for
from tests.execution.wire.conftest import ollama_server, stage
from tests.execution.wire.stage import verdict

__all__ = ["ollama_server", "stage"]

QWEN, GEMMA = Target("ollama", "qwen3:14b"), Target("ollama", "gemma3:27b")
MODELS = (ModelInfo("qwen3:14b", "qwen3", context_length=40_960), ModelInfo("gemma3:27b", "gemma3"))
OFFERS = [
    Offer("ollama", MODELS),
    Offer("embedded", (ModelInfo("tiny"),)),
    Offer("lab", problem="It is off."),
]


@pytest.mark.parametrize(
    ("profile", "seed", "rounds", "calls"),
    [
        ("wiggum", 0, Range(1, 3), Range(2, 6)),
        ("wiggum", 900, Range(1, 3), Range(1, 5)),
        ("simmer", 900, Range(4, 4), Range(7, 7)),
        ("simmer", 0, Range(4, 4), Range(8, 8)),
    ],
)
def test_calls_are_those_of_the_loop(profile, seed, rounds, calls):
    found = estimate_of(rubric_for(profile), task_chars=100, seed_chars=seed)
    assert (found.rounds, found.calls) == (rounds, calls)


def test_a_rubric_of_checks_asks_no_judge():
    rubric = replace(rubric_for("ralph"), criteria=())
    assert estimate_of(rubric, task_chars=10, seed_chars=0).calls == Range(1, 3)


def test_longer_texts_and_more_rounds_cost_more():
    rubric = rubric_for("wiggum")
    short = estimate_of(rubric, task_chars=100, seed_chars=1_000).tokens
    long = estimate_of(rubric, task_chars=100, seed_chars=5_000).tokens
    more = estimate_of(
        rubric_with(rubric, {"policy.max_rounds": "9"}), task_chars=100, seed_chars=1_000
    ).tokens
    assert short.low < long.low
    assert short.high < long.high
    assert short.low == more.low
    assert short.high < more.high


def test_a_budget_is_the_most():
    rubric = rubric_with(rubric_for("wiggum"), {"policy.budget.calls": "3", "policy.budget.tokens": "2000"})
    found = estimate_of(rubric, task_chars=100, seed_chars=3_000)
    assert (found.calls.high, found.tokens.high) == (3, 2000)


@pytest.mark.django_db
def test_a_real_run_lies_within_the_range(stage):
    rubric = rubric_for("wiggum")
    verdicts = [verdict(rubric, score) for score in (5, 6, 7)]
    stage.says(judge=verdicts, producer=["A revised text. " * 30] * 3)
    run = stage.play(rubric, seed="A first text. " * 30)
    found = estimate_of(rubric, task_chars=len(run.task), seed_chars=len(run.seed))
    assert found.calls.low <= run.calls_made <= found.calls.high
    assert found.tokens.low <= run.tokens <= found.tokens.high


# --- what is said first ---------------------------------------------------------------------------
def codes(rubric=None, seed_chars=0, producer=QWEN, judge=GEMMA, workers=1) -> list[str]:
    rubric = rubric or rubric_for("wiggum")
    estimate = estimate_of(rubric, task_chars=100, seed_chars=seed_chars)
    plan = Plan(rubric, seed_chars, producer, judge, estimate, workers)
    return [caution.code for caution in warnings_for(plan, OFFERS)]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, []),
        ({"producer": GEMMA}, ["same_model"]),
        ({"judge": Target("ollama", "qwen2:7b")}, ["unknown-judge", "same_family"]),
        ({"judge": Target("lab", "any")}, ["down-lab"]),
        ({"producer": Target("lab", "a"), "judge": Target("lab", "b")}, ["down-lab"]),
        ({"judge": Target("embedded", "tiny")}, ["embedded"]),
        ({"seed_chars": 6_001}, ["long-seed"]),
        ({"workers": 0}, ["no-worker"]),
        ({"producer": None, "judge": None}, []),
    ],
)
def test_what_is_worth_knowing_is_said(given, told):
    assert codes(**given) == [*told, "uncalibrated"]


def test_a_calibrated_rubric_is_not_complained_about():
    known = replace(rubric_for("wiggum"), calibration_text="A text.", calibration_scores={"depth": 5})
    assert codes(known) == []


def test_a_context_that_is_too_small_is_said():
    wide = rubric_with(rubric_for("wiggum"), {"policy.judge_limit_chars": "400000"})
    assert "context" in codes(wide, seed_chars=300_000, judge=QWEN, producer=GEMMA)


def test_checks_alone_need_no_judge_and_no_words_about_one():
    checks = replace(rubric_for("ralph"), criteria=())
    assert codes(checks, seed_chars=90_000, producer=QWEN, judge=QWEN) == []
