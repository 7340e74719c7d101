"""When an evaluator's output is a complete failure, and its effect on the assessment."""

import shlex
from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.evaluating import command_line, metric_number, metric_values, with_failure
from refinement.engine.feedback import CONTRACT_VIOLATED, FAILED_COMPLETELY
from refinement.engine.profiles import rubric_for
from refinement.engine.scoring import assess, best_round, shown_metric
from refinement.engine.steps import next_step
from refinement.engine.types import (
    CheckResult,
    CriterionScore,
    EvaluationMode,
    Evaluator,
    EvaluatorOutput,
    History,
    Metric,
    MetricValue,
    Round,
    Verdict,
)

SIMMER = rubric_for("simmer")
SAID = Verdict(
    tuple(CriterionScore(entry.key, Decimal(8)) for entry in SIMMER.criteria), asi="Close the bracket."
)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (EvaluatorOutput("3 passed", "", 0), ""),
        (EvaluatorOutput("", "", 0), ""),
        (EvaluatorOutput(" \n", "a warning", 0), ""),
        (EvaluatorOutput("2 failed", "", 1), ""),
        (EvaluatorOutput("1 passed", "", None, "was stopped"), ""),
        (EvaluatorOutput("", "SyntaxError", 1), "The command ended with exit code 1 and wrote errors only."),
        (EvaluatorOutput(" \n", "", 2), "The command ended with exit code 2 and wrote nothing at all."),
        (EvaluatorOutput("", "", None, "was stopped"), "The command was stopped and wrote nothing at all."),
        (
            EvaluatorOutput("\ufffd\ufffd \x01\u200f", "", 0),
            "The command ended with exit code 0 and wrote nothing that can be read as text.",
        ),
    ],
)
def test_errors_only_nothing_or_nothing_readable_is_a_complete_failure(output, why):
    assert with_failure(output) == replace(output, failure=why)


def test_a_complete_failure_puts_every_criterion_at_the_minimum_and_keeps_what_was_said():
    failed = with_failure(EvaluatorOutput("", "SyntaxError", 1))
    assessment = assess(SIMMER, SAID, evaluator=failed)
    assert set(assessment.scores.values()) == {Decimal(1)}
    assert (assessment.composite, assessment.verdicts) == (Decimal(1), (SAID,))
    assert assess(SIMMER, SAID, evaluator=EvaluatorOutput("2 failed", "", 1)).composite == Decimal(8)


def test_the_next_revision_is_told_that_it_failed_and_by_the_judge_why():
    failed = assess(SIMMER, SAID, evaluator=with_failure(EvaluatorOutput("", "secret trace", 1)))
    told = next_step(SIMMER, History((Round(1, "text", failed),))).feedback
    assert (told.note, told.asi) == (FAILED_COMPLETELY, "Close the bracket.")
    well = assess(SIMMER, SAID, evaluator=EvaluatorOutput("fine"))
    assert next_step(SIMMER, History((Round(1, "text", well),))).feedback.note == ""


def test_output_that_matches_the_rubrics_pattern_is_a_complete_failure():
    matched = with_failure(EvaluatorOutput("0 passed, 10 failed", "", 1), "“0 passed”")
    assert matched.failure == "The output matches the failure pattern “0 passed”."
    errors = with_failure(EvaluatorOutput("", "0 passed", 1), "“0 passed”")
    assert errors.failure == "The command ended with exit code 1 and wrote errors only."


@pytest.mark.parametrize("profile", ["simmer", "ralph", "wiggum"])
def test_a_violated_contract_puts_everything_at_the_minimum_whatever_judge_and_checks_say(profile):
    of = rubric_for(profile)
    said = Verdict(tuple(CriterionScore(entry.key, of.scale.maximum) for entry in of.criteria))
    passed = tuple(CheckResult(check.key, True) for check in of.checks)
    violated = assess(of, said, passed, contract_violation="The text is not valid JSON.")
    assert violated.composite == of.scale.minimum
    assert set(violated.scores.values()) <= {of.scale.minimum}
    assert violated.contract_violation == "The text is not valid JSON."
    better = assess(of, said, passed)
    assert (better.composite, better.contract_violation) == (of.scale.maximum, "")
    assert best_round(of, (Round(1, "bad", violated), Round(2, "good", better))).number == 2


def test_a_contract_that_the_judge_calls_violated_counts_the_same():
    said = replace(SAID, contract_violation="It is a list, not a table.")
    assessment = assess(SIMMER, said)
    assert (assessment.composite, assessment.contract_violation) == (1, "It is a list, not a table.")
    by_code = assess(SIMMER, said, contract_violation="Not JSON.")
    assert by_code.contract_violation == "Not JSON."


def test_the_next_revision_is_told_how_the_contract_was_violated():
    violated = assess(SIMMER, SAID, contract_violation="The text is not valid JSON.")
    told = next_step(SIMMER, History((Round(1, "text", violated),))).feedback
    assert told.note == CONTRACT_VIOLATED.format("The text is not valid JSON.")
    assert "The text is not valid JSON. Put this right" in told.note
    assert told.asi == "Close the bracket."


def test_a_metric_is_the_median_of_the_runs_that_gave_it():
    runs = (
        {"loss": Decimal("0.3"), "steps": Decimal(4)},
        {},
        {"loss": Decimal("0.1")},
        {"loss": Decimal("0.2")},
    )
    found = metric_values(runs)
    assert list(found) == ["loss", "steps"]
    loss = found["loss"]
    assert (loss.value, loss.low, loss.high) == (Decimal("0.2"), Decimal("0.1"), Decimal("0.3"))
    assert loss.values == (Decimal("0.3"), Decimal("0.1"), Decimal("0.2"))
    assert found["steps"] == MetricValue((Decimal(4),))
    assert MetricValue((Decimal(1), Decimal(2))).value == Decimal("1.5")
    assert assess(SIMMER, SAID, evaluator=EvaluatorOutput("x", metrics=found)).metrics == found
    assert assess(SIMMER, SAID).metrics == {}


def test_a_metric_that_was_not_found_has_no_value():
    with pytest.raises(ValueError, match="not found"):
        MetricValue(())
    with pytest.raises(TypeError):
        MetricValue((0.5,))


def test_a_command_is_written_so_that_it_can_be_taken_apart_again():
    parts = ("sh", "-c", "wc < {file} | sort", "it's", "", "--of={file}")
    assert command_line(parts) == "sh -c 'wc < {file} | sort' 'it'\"'\"'s' '' --of={file}"
    assert tuple(shlex.split(command_line(parts))) == parts


def test_a_command_is_run_unless_the_judge_is_alone():
    command = Evaluator(("score", "{file}"))
    modes = {
        mode: replace(SIMMER, evaluation_mode=mode, evaluator=command).runs_a_command
        for mode in EvaluationMode
    }
    assert modes == {"judge_only": False, "runnable": True, "hybrid": True}
    assert not replace(SIMMER, evaluation_mode=EvaluationMode.HYBRID).runs_a_command
    assert (command.names_file, Evaluator(("score",)).names_file) == (True, False)


@pytest.mark.parametrize(
    "odd", [{"timeout": 0}, {"timeout": 3_601}, {"file_name": "../x"}, {"file_name": ""}]
)
def test_odd_evaluators_are_refused(odd):
    with pytest.raises(ValueError, match="evaluator"):
        Evaluator(("score",), **odd)


@pytest.mark.parametrize("repeat", [0, 21])
def test_the_number_of_repeats_is_bounded(repeat):
    with pytest.raises(ValueError, match="between 1 and 20 times"):
        Evaluator(repeat=repeat)


def test_a_metric_needs_a_name_and_one_way_to_find_it():
    with pytest.raises(ValueError, match="needs a name"):
        Metric("", pattern="(1)")
    for odd in ({}, {"pattern": "(1)", "pointer": "/a"}):
        with pytest.raises(ValueError, match="either a pattern or a pointer"):
            Metric("accuracy", **odd)


def test_metrics_have_different_names():
    with pytest.raises(ValueError, match="duplicate metric"):
        Evaluator(metrics=(Metric("a", pattern="(1)"), Metric("a", pointer="/a")))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (" 0.50 ", "0.50"),
        ("-3", "-3"),
        ("1e20", "1e20"),
        ("-0.0", "0"),
        ("0e400", "0"),
        ("1e21", None),
        ("1e-21", None),
        ("9" * 41, None),
        ("0." + "3" * 40, "0." + "3" * 40),
        ("0." + "3" * 41, None),
        ("nan", None),
        ("-inf", None),
        ("", None),
        ("twelve", None),
    ],
)
def test_a_metric_is_a_finite_number_of_sensible_length(text, number):
    found = metric_number(text)
    assert (None if found is None else str(found)) == (None if number is None else str(Decimal(number)))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("0.8333333333", "0.833333"),
        ("120", "120"),
        ("12.50", "12.5"),
        ("0", "0"),
        ("0.0000004", "4.00e-7"),
        ("-0.25", "-0.25"),
        ("1e20", "1" + "0" * 20),
        ("123456789012345678901.123456789", "123456789012345678901.123457"),
    ],
)
def test_a_metric_is_shown_with_at_most_six_decimals(value, words):
    assert shown_metric(Decimal(value)) == words
