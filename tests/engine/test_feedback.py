"""The feedback after a round: what it contains in each style, and that it is never empty."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refinement.engine.feedback import (
    CONTRACT_VIOLATED,
    FAILED_COMPLETELY,
    INVENTED_NAMES,
    NOTHING_NAMED,
    feedback_from,
)
from refinement.engine.rubrics import Gate
from refinement.engine.scoring import assess
from refinement.engine.steps import next_step
from refinement.engine.types import (
    Assessment,
    CheckResult,
    Criterion,
    CriterionScore,
    EvaluatorOutput,
    FeedbackStyle,
    History,
    Penalty,
    Revise,
    Round,
    Severity,
    Verdict,
)
from tests.engine.given import D, checks, rubric

STYLES = list(FeedbackStyle)


def two_criteria(style, **policy):
    base = rubric("wiggum", feedback=style, penalties=rubric("ralph").policy.penalties, **policy)
    return replace(base, criteria=(Criterion("depth", "Depth"), Criterion("form", "Form")), checks=())


def said(depth="5", form="7", *, issues=(), asi="", improvements=("", ""), reasons=("", "")):
    scores = (
        CriterionScore("depth", D(depth), reasons[0], improvements[0]),
        CriterionScore("form", D(form), reasons[1], improvements[1]),
    )
    return Verdict(scores, issues, asi)


def told(style, verdict, results=(), penalties=(), evaluator=None, **policy):
    of = two_criteria(style, **policy)
    return feedback_from(of, 1, assess(of, verdict, results, penalties, evaluator), "")


# --- issues ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "issues"),
    [
        (said(issues=("One.", " ", "Two.", "One.")), ("One.", "Two.")),
        (said(issues=("",), asi="Do it."), ("Do it.",)),
        (said(asi=" ", improvements=("Deepen.", "Reorder."), reasons=("a", "b")), ("Deepen.", "Reorder.")),
        (said(depth="8", improvements=("Deepen.", "Reorder.")), ("Reorder.", "Deepen.")),
        (said(depth="10", improvements=("None needed.", "Reorder.")), ("Reorder.",)),
        (said(depth="10", improvements=("None needed.", ""), reasons=("fine", "Jumps.")), ("Jumps.",)),
        (said(reasons=("Thin.", " ")), ("Thin.",)),
        (said(depth="10", form="10", improvements=("Perhaps shorter.", "")), ("Perhaps shorter.",)),
        (said(), (NOTHING_NAMED,)),
    ],
)
def test_a_judge_without_issues_is_heard_by_its_other_words(verdict, issues):
    feedback = told(FeedbackStyle.ISSUES, verdict)
    assert (feedback.issues, feedback.asi, feedback.failures) == (issues, "", ())


# --- asi ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "asi", "issues"),
    [
        (said(asi="Do it.", issues=("One.",)), "Do it.", ()),
        (said(issues=("One.", "Two.")), "", ("One.",)),
        (said(improvements=("Deepen.", "Reorder.")), "", ("Deepen.",)),
        (said(reasons=("", "Jumps.")), "", ("Jumps.",)),
        (said(), "", (NOTHING_NAMED,)),
    ],
)
def test_one_direction_is_always_there(verdict, asi, issues):
    feedback = told(FeedbackStyle.ASI, verdict)
    assert (feedback.asi, feedback.issues) == (asi, issues)


def test_the_first_direction_counts_where_several_judges_give_one():
    of = two_criteria(FeedbackStyle.ASI)
    both = replace(assess(of, said(asi="First.")), verdicts=(said(asi="First."), said(asi="Second.")))
    assert feedback_from(of, 1, both, "").asi == "First."


# --- failures ----------------------------------------------------------------------------------------


def messages(feedback):
    assert not any(failure.passed for failure in feedback.failures)
    return [(failure.key, str(failure.severity), failure.message) for failure in feedback.failures]


def test_a_criterion_below_the_mark_is_a_failure():
    feedback = told(FeedbackStyle.FAILURES, said(improvements=("", "Reorder."), reasons=("Thin.", "Jumps.")))
    assert messages(feedback) == [("depth", "error", "Thin."), ("form", "error", "Reorder.")]
    assert feedback.issues == ()


@pytest.mark.parametrize(
    ("depth", "form", "expected"),
    [
        ("9", "8.9", [("form", "error", "b")]),
        ("9", "10", [("depth", "info", "a")]),  # nothing is below the mark: what is below the top
        ("9.5", "9", [("form", "info", "b"), ("depth", "info", "a")]),
    ],
)
def test_the_mark_is_the_pass_threshold_then_the_top_of_the_scale(depth, form, expected):
    verdict = said(depth=depth, form=form, improvements=("a", "b"))
    assert messages(told(FeedbackStyle.FAILURES, verdict)) == expected


def test_without_a_threshold_the_mark_is_the_top_of_the_scale():
    feedback = told(FeedbackStyle.FAILURES, said(form="10", improvements=("a", "b")), pass_threshold=None)
    assert messages(feedback) == [("depth", "error", "a")]


def test_where_something_else_failed_a_criterion_above_the_mark_is_no_failure():
    fine = {"depth": "9", "form": "9", "improvements": ("a", "b")}
    assert messages(told(FeedbackStyle.FAILURES, said(**fine), checks(False))) == [("check-0", "error", "")]
    feedback = told(FeedbackStyle.FAILURES, said(**fine, issues=("One.",)))
    assert (feedback.failures, feedback.issues) == ((), ("One.",))


def test_a_score_that_a_penalty_lowered_falls_short():
    docked = (Penalty("depth", D(1), ("a.b",)),)
    verdict = said(depth="9.5", form="10", improvements=("a", "b"))
    assert messages(told(FeedbackStyle.FAILURES, verdict, (), docked))[-1] == ("depth", "error", "a")


@pytest.mark.parametrize(("asi", "expected"), [("Do it.", ("Do it.",)), (" ", (NOTHING_NAMED,))])
def test_failures_without_a_word_fall_back_on_the_asi(asi, expected):
    feedback = told(FeedbackStyle.FAILURES, said(asi=asi))
    assert (feedback.issues, feedback.asi, feedback.failures) == (expected, "", ())


def test_the_asi_is_left_out_where_something_failed():
    feedback = told(FeedbackStyle.FAILURES, said(asi="Do it.", improvements=("a", "b")))
    assert (feedback.issues, feedback.asi) == ((), "")


# --- every style -------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
def test_a_failed_check_is_part_of_the_feedback(style):
    results = (
        CheckResult("length", False, "Too short.", Severity.WARNING, suggestion="Write more."),
        CheckResult("heading", True),
    )
    feedback = told(style, said(issues=("One.",), asi="Do it."), results)
    assert feedback.failures[0] == results[0]
    assert "heading" not in [failure.key for failure in feedback.failures]


@pytest.mark.parametrize("style", STYLES)
def test_invented_names_are_part_of_the_feedback(style):
    flagged = (
        Penalty("depth", D(2), ("client.make_it_all_work", "client.make_it_all_work", "x.do_everything_now")),
    )
    (failure,) = told(
        style, said(depth="10", form="10", issues=("One.",), asi="Do it."), (), flagged
    ).failures[:1]
    assert (failure.key, failure.passed, failure.severity) == (INVENTED_NAMES, False, Severity.ERROR)
    assert (
        failure.message == "These calls look invented: `client.make_it_all_work()`, `x.do_everything_now()`."
    )
    assert failure.suggestion == "Use names that exist in the library, or describe the step in words."


@pytest.mark.parametrize(("count", "rest"), [(20, "."), (21, " and 1 more.")])
def test_a_long_list_of_invented_names_is_cut(count, rest):
    names = tuple(f"object.name_{number}" for number in range(count))
    (failure,) = told(FeedbackStyle.ISSUES, said(), (), (Penalty("depth", D(2), names),)).failures
    assert failure.message.endswith(f"`object.name_19()`{rest}")


@pytest.mark.parametrize("style", STYLES)
def test_what_the_judge_said_arrives_unchanged(style):
    words = "Only 7 out of 10 required items are there; a score of 3/10 for `depth`."
    feedback = told(style, said(issues=(words,), asi=words, improvements=(words, "")))
    texts = (*feedback.issues, feedback.asi, *(failure.message for failure in feedback.failures))
    assert set(filter(None, texts)) == {words}


def test_the_notes_follow_each_other():
    of = two_criteria(FeedbackStyle.ISSUES)
    failed = EvaluatorOutput("", "boom", 1, failure="It failed.")
    assessment = assess(of, said(), evaluator=failed, contract_violation="No table.")
    assert feedback_from(of, 1, assessment, "It starts again.").note == (
        f"It starts again. {FAILED_COMPLETELY} {CONTRACT_VIOLATED.format('No table.')}"
    )


# --- never empty -------------------------------------------------------------------------------------

WORDS = st.sampled_from(["", " ", "\n", "Say more.", "7/10"])
SCORES = st.integers(0, 10).map(lambda number: D(number))


@st.composite
def assessments(draw) -> tuple[object, Assessment]:
    of = two_criteria(draw(st.sampled_from(STYLES)), max_rounds=3)
    threshold = draw(st.sampled_from([None, D(0), D(9), D(10)]))
    rules = draw(st.sampled_from([of.policy.stop_rules, ()]))
    of = replace(of, policy=replace(of.policy, pass_threshold=threshold, stop_rules=rules))
    scores = tuple(CriterionScore(key, draw(SCORES), draw(WORDS), draw(WORDS)) for key in ("depth", "form"))
    verdict = Verdict(scores, tuple(draw(st.lists(WORDS, max_size=2))), draw(WORDS))
    results = checks(*draw(st.lists(st.booleans(), max_size=2)))
    penalties = (Penalty("depth", D(1), ("a.b",)),) if draw(st.booleans()) else ()
    evaluator = EvaluatorOutput("", "boom", 1, failure="It failed.") if draw(st.booleans()) else None
    return of, assess(of, verdict, results, penalties, evaluator)


@given(assessments())
@settings(max_examples=500, deadline=None)
def test_feedback_is_never_empty(case):
    of, assessment = case
    step = next_step(of, History((Round(1, "candidate", assessment),)))
    if not isinstance(step, Revise):
        return
    told = step.feedback
    texts = (*told.issues, told.asi, *(failure.message or failure.key for failure in told.failures))
    assert any(text.strip() for text in texts)
    assert all(text.strip() for text in told.issues)


def test_checks_that_all_passed_still_give_feedback():
    of = rubric("ralph", stop_rules=())
    step = next_step(of, History((Round(1, "c", assess(of, None, checks(True))),)))
    assert step.feedback.issues == (NOTHING_NAMED,)


# --- what was expected and what came -----------------------------------------------------------------


@pytest.mark.parametrize("gates", [None, (Gate(("depth",)),)])
def test_only_an_evals_failures_quote_the_rejected_text(gates):
    failed = CheckResult("heading", passed=False, message="No heading.", expected="a heading", actual="Some")
    of = replace(two_criteria(FeedbackStyle.FAILURES), gates=gates)

    entry = feedback_from(of, 1, assess(of, said(), (failed,)), "").failures[0]

    assert (entry.message, entry.expected, entry.actual) == (
        "No heading.",
        *(("a heading", "Some") if gates else ("", "")),
    )
