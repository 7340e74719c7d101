"""What code reads from an evaluator's output: metrics, and the rubric's failure patterns.

The output and the patterns may be hostile, so they are read in a child process with limits. A number that
cannot be found in time is not found, which is never zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.types import Evaluator, EvaluatorOutput
from refinement.judging import isolation
from refinement.judging.checks.kinds import quoted
from refinement.judging.evidence.reading import pointer_problems

__all__ = ["OutputReading", "pattern_problems", "pointer_problems", "read_output"]


@dataclass(frozen=True, slots=True)
class OutputReading:
    """The metrics found in one run's output, and the failure pattern that it matches, quoted."""

    metrics: Mapping[str, Decimal]
    failure_pattern: str = ""


def read_output(evaluator: Evaluator, output: EvaluatorOutput) -> OutputReading:
    """Reads the output of one run of the evaluator's command."""
    if not evaluator.metrics and not evaluator.failure_patterns:
        return OutputReading({})
    arguments = {
        "patterns": evaluator.failure_patterns,
        "metrics": [[metric.pattern, metric.pointer] for metric in evaluator.metrics],
        "stdout": output.stdout,
        "stderr": output.stderr,
    }
    answers = isolation.run("read_output", arguments).answers
    matched = answers[0] if answers else None
    return OutputReading(
        metrics={
            metric.name: Decimal(number)
            for metric, number in zip(evaluator.metrics, answers[1:], strict=False)
            if number is not None
        },
        failure_pattern="" if matched is None else quoted(evaluator.failure_patterns[matched]),
    )


def pattern_problems(pattern: str, *, groups: int | None = None) -> list[str]:
    """The errors that prevent saving a pattern for the output, as sentences; empty if it is valid.

    `groups` is the number of groups that it must have. The pattern is tried on texts that reveal
    catastrophic backtracking.
    """
    if "\n" in pattern:
        return ["The pattern must be on one line. Write \\n for a line end."]
    outcome = isolation.run("output_pattern_problems", {"pattern": pattern, "groups": groups})
    if outcome.limit:
        return ["The pattern was not verified: it takes too long or needs too much memory. Make it simpler."]
    (found,) = outcome.answers
    return [str(problem) for problem in found]
