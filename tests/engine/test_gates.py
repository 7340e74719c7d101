"""Gates: what must hold for a round to pass, with or without a threshold."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.codec import rubric_from_json, rubric_to_json
from refinement.engine.profiles import RALPH_POLICY, RALPH_SCALE, context_rules_for
from refinement.engine.scoring import assess, composite, passes
from refinement.engine.sentences import fall_sentence, held_back, why_stopped
from refinement.engine.stopping import outcome_of
from refinement.engine.types import (
    Check,
    CheckResult,
    Criterion,
    CriterionScore,
    Gate,
    History,
    Outcome,
    Round,
    Rubric,
    Severity,
    StopReason,
    Verdict,
)


def rubric(gates, threshold=None):
    return Rubric(
        name="gates",
        profile="ralph",
        scale=RALPH_SCALE,
        policy=replace(RALPH_POLICY, pass_threshold=threshold),
        context=context_rules_for("ralph"),
        criteria=(Criterion("tone", "Tone"),),
        checks=(Check("a", "contains", {"text": "a"}), Check("b", "contains", {"text": "b"})),
        gates=gates,
    )


def judged(given, tone, a, b):
    checks = tuple(
        CheckResult(key, value > 0, severity=Severity.WARNING, score=Decimal(value))
        for key, value in (("a", a), ("b", b))
    )
    return assess(given, Verdict((CriterionScore("tone", Decimal(str(tone))),)), checks)


@pytest.mark.parametrize(
    ("gates", "threshold", "tone", "a", "b", "passed"),
    [
        ((Gate(("a",)), Gate(("b",))), None, 0, 1, 1, True),
        ((Gate(("a",)), Gate(("b",))), None, 1, 1, 0, False),
        ((Gate(("tone",), Decimal("0.8")),), None, "0.8", 0, 0, True),
        ((Gate(("tone",), Decimal("0.8")),), None, "0.79", 1, 1, False),
        ((Gate(("a", "b"), Decimal("0.5")),), None, 0, 1, 0, True),
        ((Gate(("a", "b"), Decimal("0.6")),), None, 0, 1, 0, False),
        ((Gate(("tone", "a", "b"), Decimal("0.5")),), None, "0.5", 1, 0, True),
        ((), None, 0, 0, 0, True),
        (None, None, 1, 1, 1, False),
        (None, Decimal("0.5"), "0.5", 1, 0, True),
        ((Gate(("b",)),), Decimal("0.5"), "0.5", 1, 0, False),
    ],
)
def test_what_passes(gates, threshold, tone, a, b, passed):
    given = rubric(gates, threshold)
    assert passes(given, judged(given, tone, a, b)) == passed
    assert rubric_from_json(rubric_to_json(given)) == given


def test_a_run_with_gates_ends_with_pass_or_fail_and_says_why():
    given = rubric((Gate(("tone",), Decimal("0.8")), Gate(("a",))))
    history = History(rounds=(Round(1, "x", judged(given, "0.7", 0, 1)),))
    assert outcome_of(given, history, StopReason.MAX_ITERATIONS_REACHED) is Outcome.FAIL
    why = why_stopped(given, history, StopReason.MAX_ITERATIONS_REACHED)
    assert why == (
        "Stopped after round 1: reached the 3-round limit. “tone” is below 0.8 and the check “a” failed."
    )
    assert given.mark_of("tone") == Decimal("0.8")
    assert outcome_of(rubric(None), history, StopReason.MAX_ITERATIONS_REACHED) is Outcome.DONE


def test_a_measured_score_counts_in_the_composite():
    given = rubric(None)
    results = (CheckResult("a", True, score=Decimal("0.4")), CheckResult("b", False))
    assert composite(given, {"tone": Decimal("0.8")}, results) == Decimal("0.4")


def test_a_gate_names_what_is_there():
    with pytest.raises(ValueError, match="not all criteria or checks"):
        rubric((Gate(("missing",)),))
    with pytest.raises(ValueError, match="between 0 and 1"):
        Gate(("a",), Decimal(2))
    with pytest.raises(ValueError, match="at least one key"):
        Gate(())


def test_a_run_without_a_pass_mark_passes_when_all_that_is_required_holds():
    given = rubric((Gate(("a",)),))
    history = History(rounds=(Round(1, "x", judged(given, "0.5", 1, 0)),))
    said = why_stopped(given, history, StopReason.QUALITY_THRESHOLD_MET)
    assert "everything that is required holds" in said


def test_a_gate_that_is_newly_missed_is_what_fell():
    given = rubric((Gate(("tone",), Decimal("0.8")),))
    before, after = judged(given, "0.8", 0, 1), judged(given, "0.5", 1, 1)
    same = replace(after, composite=before.composite)
    assert fall_sentence(given, before, same) == "“tone” is below 0.8"


def test_why_a_round_with_enough_points_did_not_pass():
    assert held_back(rubric(None, Decimal("0.5")), Decimal("0.6"), ["a"]) == (
        "Score 0.60 reached the pass mark, but the check “a” failed."
    )
