"""When an evaluator's output is a complete failure, and what follows from it."""

import shlex
from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.evaluating import command_line, with_failure
from refinement.engine.profiles import rubric_for
from refinement.engine.scoring import assess
from refinement.engine.steps import FAILED_COMPLETELY, next_step
from refinement.engine.types import (
    CriterionScore,
    EvaluationMode,
    Evaluator,
    EvaluatorOutput,
    History,
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


@pytest.mark.parametrize("odd", [{"timeout": 0}, {"timeout": 241}, {"file_name": "../x"}, {"file_name": ""}])
def test_odd_evaluators_are_refused(odd):
    with pytest.raises(ValueError, match="evaluator"):
        Evaluator(("score",), **odd)
