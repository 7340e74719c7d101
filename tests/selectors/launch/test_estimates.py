"""Estimates of a run: ranges that contain what really happens, and warnings before a launch."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.engine.types import EvaluationMode, Evaluator, JudgeMode, Judges, OnPlateau, PanelJudge, Role
from refinement.providers.base import ModelInfo
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.launch.estimates import Range, estimate_of, two_digits
from refinement.selectors.launch.judging import judging_of
from refinement.selectors.launch.plans import Plan
from refinement.selectors.launch.warnings import Fix, warnings_for
from tests.execution.wire.conftest import ollama_server, stage
from tests.execution.wire.stage import verdict
from tests.loopback.replies import valid_replies

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


# --- boards ---------------------------------------------------------------------------------------
def board(*models: str, profile="wiggum", mode=JudgeMode.BOARD, **more):
    """A rubric with a panel of these models; an empty one is the judge's."""
    panel = tuple(PanelJudge(f"Judge {seat}", "A lens.", model) for seat, model in enumerate(models, 1))
    return replace(rubric_for(profile), judges=Judges(mode, panel, **more))


@pytest.mark.parametrize(
    ("rubric", "seed", "calls"),
    [
        # 2n + 1 per round; from round 2 on a revision and the name of its change.
        (board("", ""), 900, Range(5, 5 * 3 + 2 + 2)),
        (board("", "", ""), 900, Range(7, 7 * 3 + 2 + 2)),
        (board(*[""] * 5), 900, Range(11, 11 * 3 + 2 + 2)),
        (board("", "", ""), 0, Range(8, 7 * 3 + 2 + 3)),
        # Without a panel the clerk composes one of three.
        (board(), 900, Range(8, 7 * 3 + 2 + 2 + 1)),
        (board("", "", "", deliberation=False), 900, Range(4, 4 * 3 + 2 + 2)),
        # Automatic: six criteria are a board.
        (board("", "", mode=JudgeMode.AUTO), 900, Range(5, 5 * 3 + 2 + 2)),
        (board("", "", mode=JudgeMode.SINGLE), 900, Range(1, 5)),
        # A clerk that the rubric names also names a single judge's changes.
        (board(mode=JudgeMode.SINGLE, clerk="ollama/small"), 900, Range(1, 3 + 2 + 2)),
    ],
)
def test_calls_of_a_board(rubric, seed, calls):
    assert estimate_of(rubric, task_chars=100, seed_chars=seed).calls == calls


def test_a_judge_with_an_evaluator_has_its_changes_named():
    rubric = rubric_with(
        rubric_for("wiggum"), {"evaluation_mode": "hybrid", "evaluator.command": "/bin/true"}
    )
    assert rubric.evaluation_mode is EvaluationMode.HYBRID
    assert rubric.evaluator == Evaluator(("/bin/true",))
    assert estimate_of(rubric, task_chars=100, seed_chars=900).calls == Range(1, 3 + 2 + 2)


def test_calls_are_told_by_role():
    found = estimate_of(board("", "", ""), task_chars=100, seed_chars=900, repeats=2)
    assert {share.role: share.calls for share in found.roles} == {
        Role.PRODUCER: Range(0, 4),
        Role.JUDGE: Range(12, 36),
        Role.CLERK: Range(2, 10),
    }
    assert (found.round_calls, found.first_calls) == (9, 7)  # from round 2 on with a revision and its name
    assert two_digits(sum(share.tokens.high for share in found.roles)) >= found.tokens.high


@pytest.mark.parametrize(
    ("on_plateau", "mode", "panel", "more"),
    [
        # Two revisions, two board rounds of 2n + 1, two names; and the clerk composes the panel.
        (OnPlateau.BOARD, JudgeMode.SINGLE, 0, 2 + 14 + 2 + 1),
        (OnPlateau.BOARD, JudgeMode.SINGLE, 2, 2 + 10 + 2),
        (OnPlateau.ASK, JudgeMode.SINGLE, 3, 2 + 14 + 2),
        (OnPlateau.ASK, JudgeMode.BOARD, 0, 2 + 14 + 2),
        (OnPlateau.BOARD, JudgeMode.BOARD, 3, 0),
        (OnPlateau.STOP, JudgeMode.SINGLE, 3, 0),
    ],
)
def test_a_plateau_adds_rounds(on_plateau, mode, panel, more):
    rubric = board(*[""] * panel, profile="simmer", mode=mode)
    rubric = replace(rubric, policy=replace(rubric.policy, on_plateau=on_plateau))
    found = estimate_of(rubric, task_chars=100, seed_chars=900)
    assert found.more_calls == more
    assert bool(found.more_tokens) == bool(more)
    budget = rubric_with(rubric, {"policy.budget.calls": str(found.calls.high + 3)})
    assert estimate_of(budget, task_chars=100, seed_chars=900).more_calls == min(more, 3)


@pytest.mark.django_db(transaction=True)  # the judges are called in threads
def test_a_real_board_lies_within_the_range(stage):
    rubric = board("", "", "", profile="simmer")
    rubric = replace(rubric, policy=replace(rubric.policy, max_rounds=2))
    stage.server.replies = valid_replies()
    run = stage.play(rubric, seed="A first text. " * 30)
    found = estimate_of(rubric, task_chars=len(run.task), seed_chars=len(run.seed))
    assert found.calls == Range(run.calls_made, run.calls_made) == Range(16, 16)
    assert found.tokens.low <= run.tokens <= found.tokens.high


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
def cautions(rubric=None, seed_chars=0, producer=QWEN, judge=GEMMA, clerk=None, workers=1):
    rubric = rubric or rubric_for("wiggum")
    judging = judging_of(rubric, seed_chars=seed_chars, judge=judge, clerk=clerk)
    estimate = estimate_of(rubric, task_chars=100, seed_chars=seed_chars, judging=judging)
    return warnings_for(Plan(seed_chars, producer, judge, judging, estimate, workers), OFFERS)


def codes(*given, **more) -> list[str]:
    return [caution.code for caution in cautions(*given, **more)]


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
    assert codes(**given) == told


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ({"tokens": "9000"}, True),
        ({"tokens": "60000"}, False),
        ({"calls": "6"}, True),
        ({"calls": "7"}, False),
    ],
)
def test_a_limit_that_allows_no_round_is_said(limit, told):
    path, value = next((f"policy.budget.{name}", value) for name, value in limit.items())
    found = cautions(rubric_with(board("", "", ""), {path: value}), seed_chars=900)
    assert [caution.code for caution in found] == (["low-limit"] if told else [])
    if told:
        assert found[0].words.startswith("A board round needs ")
        assert found[0].words.endswith(f"the limit of {int(value):,} allows none.")
        assert found[0].fix == Fix("Raise the limit", path.rpartition(".")[2])


@pytest.mark.parametrize("seed", [0, 900, 5_000])
def test_the_most_is_not_every_reply_at_its_limit(seed):
    tokens = estimate_of(board("", "", "", profile="simmer"), task_chars=200, seed_chars=seed).tokens
    assert tokens.high <= 5 * tokens.low


def test_a_context_that_is_too_small_is_said():
    wide = rubric_with(rubric_for("wiggum"), {"policy.judge_limit_chars": "400000"})
    assert "context" in codes(wide, seed_chars=300_000, judge=QWEN, producer=GEMMA)


def test_checks_alone_need_no_judge_and_no_words_about_one():
    checks = replace(rubric_for("ralph"), criteria=())
    assert codes(checks, seed_chars=90_000, producer=QWEN, judge=QWEN) == []


@pytest.mark.parametrize(
    ("models", "given", "told"),
    [
        (["", ""], {}, []),
        (["ollama/gemma3:27b", "lab/any"], {}, ["down-lab"]),
        (["", "ollama/gone"], {}, ["unknown-judge-2"]),
        (["nowhere/a", "nowhere/b"], {}, ["no-endpoint-nowhere"]),
        (["", "ollama/qwen3:14b"], {}, ["same_model"]),
        (["", "embedded/tiny"], {}, ["embedded"]),
        (["", ""], {"clerk": Target("ollama", "gone")}, ["unknown-clerk"]),
        (["", ""], {"clerk": Target("lab", "x")}, ["down-lab"]),
        # The clerk does not score: its family does not matter.
        (["", ""], {"clerk": QWEN}, []),
        ([], {"judge": Target("ollama", "gone")}, ["unknown-judge"]),
    ],
)
def test_each_judge_of_a_board_and_the_clerk_are_looked_at(models, given, told):
    assert codes(board(*models), **given) == told


def test_judges_of_the_producers_family_are_named():
    said = cautions(board("", "ollama/qwen3:14b", "ollama/qwen2:7b"))
    titles = {caution.code: caution.title for caution in said}
    assert titles["same_model"] == "Writer and Judge 2 are the same model"
    assert titles["same_family"] == "Writer and Judge 3 are of the same family"
    composed = cautions(board(), judge=QWEN)
    assert composed[0].title == "Writer and judges are the same model"


def test_the_smallest_context_of_a_board_counts():
    wide = rubric_with(board("", "ollama/qwen3:14b"), {"policy.judge_limit_chars": "400000"})
    assert "context" in codes(wide, seed_chars=300_000, producer=GEMMA, judge=GEMMA)


def test_a_clerk_that_a_single_judge_never_calls_is_not_looked_at():
    gone = Target("ollama", "gone")
    assert "unknown-clerk" not in codes(clerk=gone)
    assert "unknown-clerk" in codes(rubric_for("simmer"), clerk=gone)  # a plateau would call it
