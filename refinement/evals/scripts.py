"""A script as a check: it reads the candidate, and its exit status decides."""

import time
from collections.abc import Callable
from pathlib import Path

from refinement.judging.checks import CannotCheck, CommandRunner
from refinement.judging.checks.kinds import PASSED, Finding, Parameters
from refinement.providers.base import CallControl, Cancelled
from refinement.providers.processes import Command, CommandResult, run_command

SAID_CHARS = 600


class _TooLong(Exception):
    """The script's time is over."""


def script_runner(folder: Path) -> Callable[[CallControl], CommandRunner]:
    """Runs scripts in this folder, for as long as the caller's control lets them."""

    def controlled(control: CallControl) -> CommandRunner:
        def run(parameters: Parameters, candidate: str) -> Finding:
            return finding(Command(_parts(parameters), str(folder)), parameters, candidate, control)

        return run

    return controlled


def finding(command: Command, parameters: Parameters, candidate: str, control: CallControl) -> Finding:
    seconds = float(str(parameters["timeout"]))
    until = time.monotonic() + seconds

    def look() -> None:
        if control.is_cancelled():
            raise Cancelled(f"The script {command.name} was stopped.")
        if time.monotonic() > until:
            raise _TooLong

    try:
        ended = run_command(command, candidate, look)
    except _TooLong:
        return Finding(False, f"The script {command.name} did not come to an end within {seconds:g} seconds.")
    except OSError as error:
        raise CannotCheck(
            f"the script {command.name} cannot be started ({error.strerror}). Check its path and its rights."
        ) from error
    return PASSED if ended.code == 0 else Finding(False, words(command, ended))


def words(command: Command, ended: CommandResult) -> str:
    """What the script said, for people and for the next prompt."""
    if ended.too_long:
        return f"The script {command.name} wrote more than {command.output_bytes:,} bytes."
    said = (ended.out.strip() or ended.err.strip())[:SAID_CHARS]
    return said or f"The script {command.name} ended with status {ended.code}."


def _parts(parameters: Parameters) -> tuple[str, ...]:
    given = parameters["command"]
    assert isinstance(given, list | tuple)
    return tuple(str(part) for part in given)
