"""Checks under every profile: a failed one of severity error keeps a run from PASS."""

from dataclasses import replace

import pytest

from refinement.engine.sentences import fall_sentence
from refinement.engine.steps import next_step
from refinement.engine.stopping import outcome_of, reached_perfection, reached_threshold
from refinement.engine.types import CheckResult, History, Outcome, Round, Severity, StopReason
from tests.engine.given import D, checks, rubric, scored


def judged_as(*assessments):
    return History(tuple(Round(number, "x", entry) for number, entry in enumerate(assessments, 1)))


def checked(composite, *severities):
    """A round with this composite whose checks of these severities failed; another one passed."""
    failed = (CheckResult(f"check-{name}", False, severity=Severity(name)) for name in severities)
    return replace(scored(composite), checks=(*checks(True), *failed))


@pytest.mark.parametrize(
    ("severities", "reached"),
    [((), True), (("warning", "info"), True), (("error",), False), (("info", "error"), False)],
)
def test_a_failed_error_check_keeps_a_run_from_passing(severities, reached):
    for profile, score in (("wiggum", "9.5"), ("ralph", "1")):
        seen = judged_as(checked(score, *severities))
        assert reached_threshold(rubric(profile), seen) is reached
        of = rubric(profile, perfect_score=D(score))
        assert reached_perfection(of, seen) is reached
        outcome = Outcome.PASS if reached else Outcome.FAIL
        assert outcome_of(rubric(profile), seen, StopReason.BUDGET_CALLS) is outcome


def test_a_failed_error_check_does_not_change_a_run_without_a_pass_mark():
    seen = judged_as(checked("5", "error"))
    assert outcome_of(rubric("simmer"), seen, StopReason.MAX_ROUNDS) is Outcome.DONE


def test_the_highest_round_is_still_the_best_if_nothing_passed():
    step = next_step(rubric("wiggum"), judged_as(checked("9.5", "error"), checked("8"), checked("8.5")))
    assert (step.outcome, step.reason, step.best_round) == (Outcome.FAIL, StopReason.MAX_ROUNDS, 1)


def test_a_run_that_passed_returns_a_round_that_passed():
    seen = judged_as(checked("9.5", "error"), checked("9.1"))
    step = next_step(rubric("wiggum"), seen)
    assert (step.outcome, step.reason, step.best_round) == (Outcome.PASS, StopReason.PASSED, 2)
    assert step.passed_in_round == 2
    assert step.why == "Stopped after round 2: 9.10 reaches the pass mark of 9.0."


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (
            [checked("9.2", "error")] * 3,
            "Stopped after round 3: reached the 3-round limit, at the pass mark of 9.0. "
            "Round 1 is the result. Score 9.20 reached the pass mark, but the check “check-error” failed.",
        ),
        (
            [scored("8"), replace(scored("9.2"), checks=checks(False, True, False, False)), scored("8.1")],
            "Stopped after round 3: reached the 3-round limit, at the pass mark of 9.0. "
            "Round 2 is the result. Score 9.20 reached the pass mark, but the checks “check-0”, “check-2” "
            "and “check-3” failed.",
        ),
        (
            [scored("7"), scored("8"), checked("8.9", "error")],
            "Stopped after round 3: reached the 3-round limit, below the pass mark of 9.0.",
        ),
    ],
)
def test_the_sentence_says_why_a_run_above_the_threshold_did_not_pass(entries, why):
    of = rubric("wiggum", stop_rules=(StopReason.PASSED, StopReason.MAX_ROUNDS))
    assert next_step(of, judged_as(*entries)).why == why


def test_a_check_that_fails_after_a_pass_is_a_regression():
    of = rubric("wiggum", max_rounds=9, stop_rules=(StopReason.SCORE_REGRESSION,))
    step = next_step(of, judged_as(checked("9.1"), checked("9.4", "error")))
    assert (step.outcome, step.best_round) == (Outcome.PASS, 1)
    assert step.why == "Stopped after round 2: the check “check-error” failed. Round 1 is the result."


def test_a_check_that_newly_fails_is_what_fell():
    said = fall_sentence(rubric("wiggum"), checked("8"), checked("8", "error"))
    assert said == "the check “check-error” failed"
