"""Reads the output of an evaluator command and detects complete failures."""

import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from refinement.engine.types import ZERO, EvaluatorOutput, MetricValue

PLAIN_PART = re.compile(r"[\w@%+=:,./{}-]+", re.ASCII)
MOST_DIGITS = 40  # of a metric
GREATEST_POWER = 20  # of ten


def command_line(parts: Sequence[str]) -> str:
    """The command as one line, quoted where needed so that it can be split again."""
    return " ".join(part if PLAIN_PART.fullmatch(part) else shlex.quote(part) for part in parts)


def with_failure(output: EvaluatorOutput, pattern: str = "") -> EvaluatorOutput:
    """The output with `failure` set if the command failed completely.

    `pattern` is the rubric's failure pattern that the output matches, if any.
    """
    matched = f"The output matches the failure pattern {pattern}." if pattern else ""
    return replace(output, failure=complete_failure(output) or matched)


def metric_number(text: str) -> Decimal | None:
    """The number in the text; None if it is no finite number, or has too many digits to be shown."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not number.is_finite() or len(number.as_tuple().digits) > MOST_DIGITS:
        return None
    if number and abs(number.adjusted()) > GREATEST_POWER:
        return None
    return number if number else ZERO


def metric_values(runs: Sequence[Mapping[str, Decimal]]) -> dict[str, MetricValue]:
    """The metrics of a round, from the numbers that each run of its evaluator gave."""
    names = dict.fromkeys(name for run in runs for name in run)
    return {name: MetricValue(tuple(run[name] for run in runs if name in run)) for name in names}


def complete_failure(output: EvaluatorOutput) -> str:
    """Why the output is a complete failure: only errors, no output, or unreadable output.

    Empty if it is not. A command that exits with 0 and prints nothing has succeeded.
    """
    silent = not output.stdout.strip()
    if is_readable(output.stdout) or (silent and output.exit_code == 0):
        return ""
    ended = output.stopped or f"ended with exit code {output.exit_code}"
    if not silent:
        return f"The command {ended} and wrote nothing that can be read as text."
    if output.stderr.strip():
        return f"The command {ended} and wrote errors only."
    return f"The command {ended} and wrote nothing at all."


def is_readable(text: str) -> bool:
    """Whether the text has a character other than whitespace, control and replacement characters."""
    return any(
        not char.isspace() and char != "\ufffd" and unicodedata.category(char)[0] != "C" for char in text
    )
