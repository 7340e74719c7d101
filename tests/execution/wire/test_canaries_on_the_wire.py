"""Canaries in whole runs: what a role must not see is in none of its requests, as the server saw them."""

import json
from dataclasses import replace

import pytest

from refinement.engine.profiles import PROFILES, context_rules_for, rubric_for
from refinement.engine.types import Check, Criterion, ProblemClass, Rubric, Severity
from refinement.models import Run
from tests.execution.wire.stage import Stage, calls, draft

ROUNDS = 4
ODD = {  # the score of round n; on a scale of whole numbers scores are no canaries
    "wiggum": ("5.1415926", "5.2718281", "5.3141592", "5.4669201"),
    "ralph": ("0.1415926", "0.2718281", "0.3141592", "0.4669201"),
    "simmer": ("4", "5", "6", "7"),
}
each_profile = pytest.mark.parametrize("profile", PROFILES)
each_class = pytest.mark.parametrize("problem_class", ProblemClass)


def planted_rubric(profile: str, problem_class: ProblemClass) -> Rubric:
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
        problem_class=problem_class,
        context=context_rules_for(problem_class),
        purpose="canary-purpose",
        background="canary-background",
        output_contract="canary-contract",
        search_space="canary-space",
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


def played(stage: Stage, profile: str, problem_class: ProblemClass) -> Run:
    stage.says(
        judge=[reply(profile, number) for number in range(1, ROUNDS + 1)],
        producer=[
            f"<think>canary-musing-{number}</think>{candidate(number)}" for number in range(2, ROUNDS + 1)
        ],
    )
    run = stage.play(planted_rubric(profile, problem_class), seed=candidate(1), task="canary-task")
    assert (run.rounds_judged, run.stop_reason) == (ROUNDS, "max_rounds"), run.why
    return run


def bodies(stage: Stage, role: str) -> list[str]:
    """Everything that was sent, the form of the reply included."""
    return [json.dumps(entry.body) for entry in stage.asked(role)]


def found(text: str, kind: str) -> set[int]:
    """The rounds whose token of this kind is in the text."""
    return {number for number in range(1, ROUNDS + 1) if f"canary-{kind}-{number}" in text}


@each_profile
@each_class
def test_what_a_judge_sees_over_a_whole_run(stage, profile, problem_class):
    played(stage, profile, problem_class)
    with_history = problem_class is not ProblemClass.TEXT
    sent = bodies(stage, "judge")
    assert len(sent) == ROUNDS
    for number, body in enumerate(sent, start=1):
        before = set(range(1, number))
        assert found(body, "candidate") == {1, number}
        assert found(body, "asi") == (before if with_history else set())
        for kind in ("reasoning", "improvement", "issue", "thought", "musing"):
            assert found(body, kind) == set()
        assert "canary-task" in body
        assert "canary-contract" in body
        assert ("canary-space" in body) == with_history
        for never in ("canary-background", "canary-purpose", "canary-suggestion"):
            assert never not in body


@pytest.mark.parametrize("profile", ["wiggum", "ralph"])
@each_class
def test_which_scores_a_judge_sees(stage, profile, problem_class):
    played(stage, profile, problem_class)
    with_history = problem_class is not ProblemClass.TEXT
    for number, body in enumerate(bodies(stage, "judge"), start=1):
        seen = {index for index, score in enumerate(ODD[profile], start=1) if score in body}
        earlier = set(range(1, number))
        assert seen == (earlier if with_history else earlier & {1})


@each_profile
@each_class
def test_what_a_producer_sees_over_a_whole_run(stage, profile, problem_class):
    run = played(stage, profile, problem_class)
    sent = bodies(stage, "producer")
    assert len(sent) == ROUNDS - 1
    told = {"wiggum": {"issue"}, "ralph": {"issue", "failure"}, "simmer": {"asi"}}[profile]
    bases = run.rounds.order_by("number").values_list("base_round", flat=True)[1:]
    for number, (body, base) in enumerate(zip(sent, bases, strict=True), start=1):
        assert found(body, "candidate") == {base or 1}  # ralph starts from the seed each time
        for kind in ("issue", "asi"):
            assert found(body, kind) == ({number} if kind in told else set())
        for kind in ("reasoning", "improvement", "thought", "musing"):
            assert found(body, kind) == set()
        assert ("canary-suggestion" in body) == ("failure" in told)
        for given in ("canary-task", "canary-background", "canary-contract", "canary-space"):
            assert given in body
        assert "canary-purpose" not in body


@pytest.mark.parametrize("profile", ["wiggum", "ralph"])
@each_class
def test_a_producer_sees_no_score_even_where_the_judge_wrote_one_into_its_words(
    stage, profile, problem_class
):
    top = {"wiggum": "10", "ralph": "1"}[profile]
    said = [
        reply(profile, number).replace(
            f"canary-issue-{number}", f"canary-issue-{number} (score: {score}, that is {score}/{top})"
        )
        for number, score in enumerate(ODD[profile], start=1)
    ]
    stage.says(judge=said, producer=[candidate(number) for number in range(2, ROUNDS + 1)])
    stage.play(planted_rubric(profile, problem_class), seed=candidate(1))
    for body in bodies(stage, "producer"):
        assert "canary-issue" in body
        assert not [score for score in ODD[profile] if score in body]


@each_profile
@each_class
def test_the_rows_say_what_was_seen_and_what_was_withheld(stage, profile, problem_class):
    run = played(stage, profile, problem_class)
    rules = context_rules_for(problem_class)
    for call in calls(run):
        allowed = rules.judge if call.role == "judge" else rules.producer
        assert set(call.seen) <= {kind.value for kind in allowed}
        assert not set(call.seen) & set(call.withheld)
        assert ("canary-space" in json.dumps(call.messages)) == ("search_space" in call.seen)
        assert ("canary-background" in json.dumps(call.messages)) == ("background" in call.seen)
    thoughts = [call.thinking for call in calls(run) if call.role == "judge"]
    assert [f"canary-thought-{number}" in text for number, text in enumerate(thoughts, 1)] == [True] * ROUNDS
