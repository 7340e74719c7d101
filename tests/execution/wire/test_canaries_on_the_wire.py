"""Canaries in whole runs: no request contains what its role must not see."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import PROFILES, context_rules_for, rubric_for
from refinement.engine.types import Check, Criterion, Rubric, Severity
from refinement.models import Run
from tests.execution.wire.stage import Stage, calls, draft

ROUNDS = 4
ODD = {  # the score of round n; on a scale of whole numbers scores are no canaries
    "wiggum": ("5.1415926", "5.2718281", "5.3141592", "5.4669201"),
    "ralph": ("0.1415926", "0.2718281", "0.3141592", "0.4669201"),
    "simmer": ("4", "5", "6", "7"),
}
EXAMPLE_SCORE = {"wiggum": Decimal("6.6180339"), "ralph": Decimal("0.6180339"), "simmer": Decimal(9)}
each_profile = pytest.mark.parametrize("profile", PROFILES)
each_preset = pytest.mark.parametrize("evaluator", [False, True], ids=["plain", "evaluator"])


def planted_rubric(profile: str, evaluator: bool) -> Rubric:
    """A token in every text of the rubric, and nothing that ends the run before its fourth round."""
    base = rubric_for(profile)
    criteria = (
        Criterion("one", "canary-name-one", "canary-description-one", "canary-ideal-one"),
        Criterion("two", "canary-name-two", "canary-description-two", "canary-ideal-two", primary=True),
    )
    policy = replace(
        base.policy,
        max_rounds=ROUNDS,
        stop_rules=(),
        checks_in_composite=True,
        penalties=replace(base.policy.penalties, criterion=None),
    )
    check = Check(
        "mentions", "contains", {"text": "never there"}, Severity.WARNING, suggestion="canary-suggestion"
    )
    return replace(
        base,
        criteria=criteria,
        checks=(check,),
        policy=policy,
        context=context_rules_for(profile, evaluator=evaluator),
        purpose="canary-purpose",
        background="canary-background",
        output_contract="canary-contract",
        search_space="canary-space",
        calibration_text="canary-example",
        calibration_scores={"one": EXAMPLE_SCORE[profile]},
    )


def reply(profile: str, number: int) -> str:
    """Round n's verdict: every word of it carries its number."""
    criteria = {
        key: {
            "reasoning": f"canary-reasoning-{number}-{key}",
            "score": float(ODD[profile][number - 1]),
            "improvement": f"canary-improvement-{number}-{key}",
        }
        for key in ("one", "two")
    }
    if profile == "simmer":
        for entry in criteria.values():
            entry["score"] = int(entry["score"])
    verdict = {"criteria": criteria, "issues": [f"canary-issue-{number}"], "asi": f"canary-asi-{number}"}
    return f"<think>canary-thought-{number}</think>{json.dumps(verdict)}"


def candidate(number: int) -> str:
    return f"canary-candidate-{number}. {draft(number)}"


def played(stage: Stage, profile: str, evaluator: bool) -> Run:
    """A whole run. Where the judge sees the history, the clerk names what each revision changed."""
    stage.says(
        clerk=[json.dumps({"change": f"canary-change-{number}"}) for number in range(2, ROUNDS + 1)],
        judge=[reply(profile, number) for number in range(1, ROUNDS + 1)],
        producer=[
            f"<think>canary-musing-{number}</think>{candidate(number)}" for number in range(2, ROUNDS + 1)
        ],
    )
    run = stage.play(planted_rubric(profile, evaluator), seed=candidate(1), task="canary-task")
    assert (run.rounds_judged, run.stop_reason) == (ROUNDS, "max_rounds"), run.why
    return run


def bodies(stage: Stage, role: str) -> list[str]:
    """Everything that was sent, the form of the reply included."""
    return [json.dumps(entry.body) for entry in stage.asked(role)]


def found(text: str, kind: str) -> set[int]:
    """The rounds whose token of this kind is in the text."""
    return {number for number in range(1, ROUNDS + 1) if f"canary-{kind}-{number}" in text}


@each_profile
@each_preset
def test_what_a_judge_sees_over_a_whole_run(stage, profile, evaluator):
    played(stage, profile, evaluator)
    sent = bodies(stage, "judge")
    assert len(sent) == ROUNDS
    for number, body in enumerate(sent, start=1):
        before = set(range(1, number))
        assert found(body, "candidate") == ({1, number} if profile == "simmer" else {number})
        # The history names each change; the last suggestion is there in its own words.
        assert found(body, "change") == (before - {1} if evaluator else set())
        assert found(body, "asi") == ({number - 1} & before if evaluator else set())
        for kind in ("reasoning", "improvement", "issue", "thought", "musing"):
            assert found(body, kind) == set()
        for given in ("canary-task", "canary-contract", "canary-example"):
            assert given in body
        assert f"one {EXAMPLE_SCORE[profile]}" in body
        assert ("canary-space" in body) == evaluator
        for never in ("canary-background", "canary-purpose", "canary-suggestion"):
            assert never not in body


@pytest.mark.parametrize("profile", ["wiggum", "ralph"])
@each_preset
def test_which_scores_a_judge_sees(stage, profile, evaluator):
    played(stage, profile, evaluator)
    for number, body in enumerate(bodies(stage, "judge"), start=1):
        seen = {index for index, score in enumerate(ODD[profile], start=1) if score in body}
        earlier = set(range(1, number))
        assert seen == (earlier if evaluator else set())


@each_profile
@each_preset
def test_what_a_producer_sees_over_a_whole_run(stage, profile, evaluator):
    run = played(stage, profile, evaluator)
    sent = bodies(stage, "producer")
    assert len(sent) == ROUNDS - 1
    told = {"wiggum": {"issue"}, "ralph": {"issue", "improvement"}, "simmer": {"asi"}}[profile]
    bases = run.rounds.order_by("number").values_list("base_round", flat=True)[1:]
    for number, (body, base) in enumerate(zip(sent, bases, strict=True), start=1):
        assert found(body, "candidate") == {base or 1}  # ralph starts from the seed each time
        for kind in ("issue", "asi", "improvement"):
            assert found(body, kind) == ({number} if kind in told else set())
        for kind in ("reasoning", "thought", "musing"):
            assert found(body, kind) == set()
        # What works: the changes that a later round has kept.
        assert found(body, "change") == (set(range(2, number)) if evaluator else set())
        assert "canary-suggestion" in body  # a failed check is told under every profile
        for given in ("canary-task", "canary-background", "canary-contract", "canary-space"):
            assert given in body
        for never in ("canary-purpose", "canary-example", "6180339"):
            assert never not in body


@each_profile
def test_a_clerk_that_names_changes_sees_what_changed_and_what_was_asked_for(stage, profile):
    run = played(stage, profile, evaluator=True)
    sent = bodies(stage, "clerk")
    assert len(sent) == ROUNDS - 1
    told = {"wiggum": {"issue"}, "ralph": {"issue", "improvement"}, "simmer": {"asi"}}[profile]
    bases = run.rounds.order_by("number").values_list("base_round", flat=True)[1:]
    for number, (body, base) in enumerate(zip(sent, bases, strict=True), start=2):
        assert found(body, "candidate") == {base or number - 1, number}
        for kind in ("issue", "asi", "improvement"):
            assert found(body, kind) == ({number - 1} if kind in told else set())
        for kind in ("reasoning", "thought", "musing", "change"):
            assert found(body, kind) == set()
        for never in ("task", "background", "contract", "space", "purpose", "example", "ideal-one"):
            assert f"canary-{never}" not in body
        assert not [score for score in (*ODD[profile], "6180339") if len(score) > 1 and score in body]


def test_without_a_reader_of_the_history_no_clerk_is_asked(stage):
    played(stage, "wiggum", evaluator=False)
    assert bodies(stage, "clerk") == []


@pytest.mark.parametrize("profile", ["wiggum", "ralph"])
@each_preset
def test_a_producer_sees_no_score_that_the_judge_left_out_of_its_words(stage, profile, evaluator):
    played(stage, profile, evaluator)
    for body in bodies(stage, "producer"):
        assert not [score for score in ODD[profile] if score in body]


@each_profile
def test_the_judges_words_reach_the_producer_as_they_were_said(stage, profile):
    words = "Only 7 out of 10 required items are there, see `items.md`."
    said = reply(profile, 1).replace("canary-issue-1", words).replace("canary-asi-1", words)
    stage.says(judge=[said, reply(profile, 2)], producer=[candidate(2)])
    rubric = planted_rubric(profile, evaluator=False)
    stage.play(replace(rubric, policy=replace(rubric.policy, max_rounds=2)), seed=candidate(1))
    (sent,) = stage.asked("producer")
    assert words in sent.body["messages"][-1]["content"]


@each_profile
@each_preset
def test_the_rows_say_what_was_seen_and_what_was_withheld(stage, profile, evaluator):
    run = played(stage, profile, evaluator)
    rules = context_rules_for(profile, evaluator=evaluator)
    for call in calls(run):
        if call.role == "clerk":
            assert (call.purpose, call.seen, call.withheld) == ("describe", [], [])
            continue
        allowed = rules.judge if call.role == "judge" else rules.producer
        assert set(call.seen) <= {kind.value for kind in allowed}
        assert not set(call.seen) & set(call.withheld)
        assert ("canary-space" in json.dumps(call.messages)) == ("search_space" in call.seen)
        assert ("canary-background" in json.dumps(call.messages)) == ("background" in call.seen)
    thoughts = [call.thinking for call in calls(run) if call.role == "judge"]
    assert [f"canary-thought-{number}" in text for number, text in enumerate(thoughts, 1)] == [True] * ROUNDS
