"""Canaries: a token in every field of a run; only those that a role may see reach its prompt."""

from dataclasses import dataclass, replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import PROFILES, context_rules_for, rubric_for
from refinement.engine.steps import revise
from refinement.engine.types import (
    Assessment,
    CheckResult,
    ContextRules,
    Criterion,
    CriterionScore,
    Draft,
    EvaluationMode,
    Evaluator,
    EvaluatorOutput,
    Feedback,
    FeedbackStyle,
    History,
    Information,
    Metric,
    MetricValue,
    PanelSummary,
    ProblemClass,
    Revise,
    Role,
    Round,
    Rubric,
    Verdict,
)
from refinement.judging.context import OFFERED, Brief, Calibration, judge_view, producer_view
from refinement.judging.prompts import Prompt, judge_prompt, producer_prompt
from refinement.judging.sources import SourceText

METRIC = Metric("canary-metric", pattern="canary-pattern (.*)")
ROUNDS = 4
NOW = 3  # the round that is judged, or revised from
JUDGE = {
    Information.TASK: {"canary-task", "canary-type"},
    Information.CRITERIA: {"canary-name", "canary-description", "canary-ideal"},
    Information.ROUND_NUMBER: {"This is round 3"},
    Information.CANDIDATE: {"canary-candidate-3"},
    Information.BACKGROUND: {"canary-background"},
    Information.OUTPUT_CONTRACT: {"canary-contract", "canary-violation"},
    Information.SEED: {"canary-candidate-1"},
    Information.SEED_SCORES: {"quality 1.2718281"},
    Information.CALIBRATION: {"canary-example"},
    Information.CALIBRATION_SCORES: {"quality 6.6180339"},
    Information.SOURCES: {"canary-source-name", "canary-source-text"},
    Information.EVALUATOR_OUTPUT: {
        "canary-stdout",
        "canary-stderr",
        "exit code 77",
        "canary-metric 70.71",
    },
    Information.PREVIOUS_ASI: {"canary-asi-2"},
    Information.HISTORY: {
        "canary-asi-1",
        "51.37",
        "52.37",
        "(quality 1.2718281)",
        "2.2718281",
        "round 1: composite",
    },
    Information.SEARCH_SPACE: {"canary-space"},
    Information.PANEL_SUMMARY: {"canary-working-2", "canary-failing-2", "canary-direction-2"},
}
PRODUCER = {
    Information.TASK: {"canary-task"},
    Information.CRITERIA: {"canary-name", "canary-description", "canary-ideal"},
    Information.CANDIDATE: {"canary-candidate-3"},
    Information.BACKGROUND: {"canary-background"},
    Information.OUTPUT_CONTRACT: {"canary-contract"},
    Information.SOURCES: {"canary-source-name", "canary-source-text"},
    Information.FEEDBACK: {"canary-issue-3", "canary-asi-3", "canary-failure-3", "canary-suggestion-3"},
    Information.SEARCH_SPACE: {"canary-space"},
    Information.PANEL_SUMMARY: {"canary-working-3", "canary-failing-3", "canary-direction-3"},
}


def rubric(rules: ContextRules, problem_class: ProblemClass, profile: str = "simmer") -> Rubric:
    base = rubric_for(profile)
    return replace(
        base,
        context=rules,
        problem_class=problem_class,
        criteria=(Criterion("quality", "canary-name", "canary-description", "canary-ideal"),),
        policy=replace(
            base.policy, max_rounds=9, composite_decimals=2,
            penalties=replace(base.policy.penalties, criterion=None),
        ),
        background="canary-background",
        output_contract="canary-contract",
        search_space="canary-space",
        purpose="canary-purpose",
        evaluation_mode=EvaluationMode.HYBRID,
        evaluator=Evaluator(("canary-program", "{file}"), metrics=(METRIC,)),
    )  # fmt: skip


def assessment(number: int) -> Assessment:
    """The results of a round: the judge's score differs from the score after penalties."""
    score = CriterionScore(
        "quality", Decimal(f"{number}.1415926"), f"canary-reasoning-{number}", f"canary-improvement-{number}"
    )
    verdict = Verdict((score,), (f"canary-issue-{number}",), f"canary-asi-{number}", f"canary-judge-{number}")
    failed = CheckResult("c", False, f"canary-failure-{number}", suggestion=f"canary-suggestion-{number}")
    return Assessment(
        Decimal(f"5{number}.37"),
        {"quality": Decimal(f"{number}.2718281")},
        (verdict,),
        (failed,),
        evaluator=EvaluatorOutput(
            f"canary-stdout-{number}", f"canary-stderr-{number}", metrics=measured(f"{number}.73")
        ),
    )


def measured(value: str) -> dict[str, MetricValue]:
    return {METRIC.name: MetricValue((Decimal(value),))}


def past(rounds: int) -> History:
    return History(
        tuple(
            Round(number, f"canary-candidate-{number}", assessment(number), summary=summary(number))
            for number in range(1, rounds + 1)
        )
    )


def summary(number: int) -> PanelSummary:
    return PanelSummary(
        (f"canary-working-{number}",), (f"canary-failing-{number}",), f"canary-direction-{number}"
    )


def brief_of(given: Rubric, **changes: object) -> Brief:
    plain = Brief(
        "canary-task",
        given,
        "7f3a9c5e1b2d4860",
        calibration=Calibration("canary-example", {"quality": Decimal("6.6180339")}),
        sources=(SourceText("canary-source-name", "canary-source-text"),),
        task_type="canary-type",
    )
    return replace(plain, **changes)


def whole(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt.messages)


def present(text: str, tokens: dict[Information, set[str]]) -> dict[Information, set[str]]:
    return {kind: {token for token in planted if token in text} for kind, planted in tokens.items()}


def expected(
    tokens: dict[Information, set[str]], allowed: frozenset[Information]
) -> dict[Information, set[str]]:
    return {kind: planted if kind in allowed else set() for kind, planted in tokens.items()}


@dataclass(frozen=True)
class Rules:
    name: str
    rules: ContextRules
    problem_class: ProblemClass


def all_rules() -> list[Rules]:
    """The presets of every profile, everything, nothing, and each kind alone and left out."""
    everything = frozenset(Information)
    cases = [
        Rules(
            f"{profile} {'with' if evaluator else 'without'} evaluator",
            context_rules_for(profile, evaluator=evaluator),
            ProblemClass.TEXT,
        )
        for profile in PROFILES
        for evaluator in (False, True)
    ]
    cases.append(Rules("everything", ContextRules(everything, everything), ProblemClass.PIPELINE))
    cases.append(Rules("nothing", ContextRules(frozenset(), frozenset()), ProblemClass.TEXT))
    for kind in Information:
        alone, rest = frozenset({kind}), everything - {kind}
        cases.append(Rules(f"only {kind}", ContextRules(alone, alone), ProblemClass.CODE))
        cases.append(Rules(f"without {kind}", ContextRules(rest, rest), ProblemClass.TEXT))
    return cases


each_rules = pytest.mark.parametrize("case", all_rules(), ids=lambda case: case.name)
each_profile = pytest.mark.parametrize("profile", PROFILES)


@each_profile
@each_rules
def test_a_judge_sees_exactly_what_it_may(case, profile):
    brief = brief_of(rubric(case.rules, case.problem_class, profile))
    history = replace(past(ROUNDS), rounds=(*past(NOW - 1).rounds, Round(NOW, "canary-candidate-3")))
    evaluator = EvaluatorOutput("canary-stdout", "canary-stderr", 77, metrics=measured("70.71"))
    view = judge_view(brief, history, NOW, evaluator, contract_violation="canary-violation")
    text = whole(judge_prompt(view))

    allowed = case.rules.judge & OFFERED[Role.JUDGE]
    visible = expected(JUDGE, allowed)
    if Information.HISTORY in allowed:  # its lines name their scores
        visible[Information.SEED_SCORES] = JUDGE[Information.SEED_SCORES]
    assert present(text, JUDGE) == visible
    both = {Information.HISTORY, Information.EVALUATOR_OUTPUT} <= allowed
    assert [token for token in ("canary-metric 1.73", "canary-metric 2.73") if token in text] == (
        ["canary-metric 1.73", "canary-metric 2.73"] if both else []
    )
    assert set(view.seen) == allowed
    assert set(view.withheld) == set(Information) - allowed


@each_profile
@each_rules
def test_a_judge_never_sees_other_rounds(case, profile):
    brief = brief_of(rubric(case.rules, case.problem_class, profile))
    text = whole(judge_prompt(judge_view(brief, past(ROUNDS), NOW, EvaluatorOutput("out"))))
    never = [
        "canary-candidate-2", "canary-candidate-4", "canary-reasoning", "canary-improvement", "canary-issue",
        "canary-failure", "canary-suggestion", "canary-judge", "canary-purpose", "canary-stdout-",
        "canary-stderr-", "canary-asi-3", "canary-asi-4", "1415926", "3.2718281", "53.37",
        "54.37", "3.73", "4.73", "canary-program", "canary-pattern",
        *(f"canary-{part}-{number}" for part in ("working", "failing", "direction") for number in (1, 3, 4)),
    ]  # fmt: skip
    assert [token for token in never if token in text] == []


@each_profile
@each_rules
def test_a_producer_sees_exactly_what_it_may(case, profile):
    given = rubric(case.rules, case.problem_class, profile)
    brief = brief_of(given)
    failures = assessment(3).checks
    feedback = Feedback(FeedbackStyle.ISSUES, 3, ("canary-issue-3",), "canary-asi-3", failures)
    view = producer_view(brief, past(NOW), Revise(4, 3, feedback))
    text = whole(producer_prompt(view))

    allowed = case.rules.producer & OFFERED[Role.PRODUCER]
    assert present(text, PRODUCER) == expected(PRODUCER, allowed)
    assert set(view.seen) == allowed
    assert set(view.withheld) == set(Information) - allowed


@each_profile
@each_rules
def test_a_producer_never_sees_a_score_an_evaluator_or_another_round(case, profile):
    given = rubric(case.rules, case.problem_class, profile)
    history = past(NOW)
    step = revise(given, history, history.rounds[-1], assessment(3))
    text = whole(producer_prompt(producer_view(brief_of(given), history, step)))
    never = [
        "canary-reasoning", "canary-improvement", "canary-judge", "canary-stdout", "canary-stderr",
        "canary-purpose", "canary-type", "canary-candidate-1", "canary-candidate-2", "canary-asi-1",
        "canary-asi-2", "canary-issue-1", "canary-failure-2", "1415926", "2718281", ".37",
        "canary-example", "6180339",
        "canary-metric", "canary-program", ".73",
        "canary-working-2", "canary-failing-2", "canary-direction-2",
    ]  # fmt: skip
    assert [token for token in never if token in text] == []


@each_rules
def test_a_first_draft_knows_the_task_and_nothing_of_any_round(case):
    brief = brief_of(rubric(case.rules, case.problem_class), seed="canary-seed")
    view = producer_view(brief, past(NOW), Draft())
    found = present(whole(producer_prompt(view)), PRODUCER)
    of_rounds = {Information.CANDIDATE, Information.FEEDBACK, Information.PANEL_SUMMARY}
    allowed = (case.rules.producer & OFFERED[Role.PRODUCER]) - of_rounds
    assert found == expected(PRODUCER, allowed)
    assert set(view.seen) == allowed


@pytest.mark.parametrize("number", range(1, ROUNDS + 1))
@pytest.mark.parametrize("evaluator", [False, True])
@each_profile
def test_over_a_whole_run_the_judge_sees_one_candidate_and_simmers_the_first(profile, evaluator, number):
    rules = context_rules_for(profile, evaluator=evaluator)
    brief = brief_of(rubric(rules, ProblemClass.TEXT, profile))
    text = whole(judge_prompt(judge_view(brief, past(ROUNDS), number)))
    seen = {other for other in range(1, ROUNDS + 1) if f"canary-candidate-{other}" in text}
    assert seen == ({1, number} if profile == "simmer" else {number})
    assert ("<<<SEED SCORES" in text) == (profile == "simmer" and number > 1)
    for other in range(2, ROUNDS + 1):
        assert (f"{other}.2718281" in text) == (evaluator and other < number)


@each_profile
def test_a_calibration_example_is_shown_in_every_round_and_displaces_nothing(profile):
    everything = frozenset(Information)
    brief = brief_of(rubric(ContextRules(everything, everything), ProblemClass.TEXT, profile))
    for number in range(1, ROUNDS + 1):
        text = whole(judge_prompt(judge_view(brief, past(ROUNDS), number)))
        assert "<<<CALIBRATION EXAMPLE 7f3a9c5e1b2d4860>>>\ncanary-example\n" in text
        assert "<<<CALIBRATION SCORES 7f3a9c5e1b2d4860>>>\nquality 6.6180339\n" in text
        seed = "<<<SEED 7f3a9c5e1b2d4860>>>\ncanary-candidate-1\n"
        assert (seed in text) == (number > 1)


def test_a_rubric_without_a_calibration_example_says_nothing_of_one():
    everything = frozenset(Information)
    brief = brief_of(rubric(ContextRules(everything, everything), ProblemClass.TEXT), calibration=None)
    assert "CALIBRATION" not in whole(judge_prompt(judge_view(brief, past(ROUNDS), 2)))
