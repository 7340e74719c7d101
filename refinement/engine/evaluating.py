"""Reads the output of an evaluator command and detects complete failures."""

import re
import shlex
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from refinement.engine.types import EvaluatorOutput

PLAIN_PART = re.compile(r"[\w@%+=:,./{}-]+", re.ASCII)


def command_line(parts: Sequence[str]) -> str:
    """The command as one line, quoted where needed so that it can be split again."""
    return " ".join(part if PLAIN_PART.fullmatch(part) else shlex.quote(part) for part in parts)


def with_failure(output: EvaluatorOutput) -> EvaluatorOutput:
    """The output with `failure` set if the command failed completely."""
    return replace(output, failure=complete_failure(output))


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
