"""What an evaluator's command left behind, as evidence: and whether it tells of nothing but a failure."""

import re
import shlex
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from refinement.engine.types import EvaluatorOutput

PLAIN_PART = re.compile(r"[\w@%+=:,./{}-]+", re.ASCII)


def command_line(parts: Sequence[str]) -> str:
    """The command as people write it: quoted where it must be, so that it can be taken apart again."""
    return " ".join(part if PLAIN_PART.fullmatch(part) else shlex.quote(part) for part in parts)


def judged_output(output: EvaluatorOutput) -> EvaluatorOutput:
    """The output with the reason why it is a complete failure, where it is one."""
    return replace(output, failure=complete_failure(output))


def complete_failure(output: EvaluatorOutput) -> str:
    """Errors only, nothing, or nothing readable; a command that ends well without a word has no complaint."""
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
    """Whether there is a sign in it that says something: no space, control sign or broken character."""
    return any(
        not sign.isspace() and sign != "\ufffd" and unicodedata.category(sign)[0] != "C" for sign in text
    )
