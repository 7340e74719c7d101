"""Runs scripts as checks. Exit status 0 passes."""

import time
from collections.abc import Callable
from pathlib import Path

from refinement.judging.checks import CannotCheck, CommandRunner
from refinement.judging.checks.kinds import PASSED, Finding, Parameters
from refinement.providers.base import CallControl, Cancelled
from refinement.providers.processes import Command, CommandResult, run_command

OUTPUT_CHARS = 600


class _TooLong(Exception):
    """The script timed out."""


def script_runner(folder: Path) -> Callable[[CallControl], CommandRunner]:
    """Runs scripts in this folder until they end, time out or are cancelled."""

    def controlled(control: CallControl) -> CommandRunner:
        def run(parameters: Parameters, candidate: str) -> Finding:
            return finding(Command(_parts(parameters), str(folder)), parameters, candidate, control)

        return run

    return controlled


def finding(command: Command, parameters: Parameters, candidate: str, control: CallControl) -> Finding:
    seconds = float(str(parameters["timeout"]))
    until = time.monotonic() + seconds

    def check_limits() -> None:
        if control.is_cancelled():
            raise Cancelled(f"The script {command.name} was stopped.")
        if time.monotonic() > until:
            raise _TooLong

    try:
        ended = run_command(command, candidate, check_limits)
    except _TooLong:
        return Finding(False, f"The script {command.name} did not come to an end within {seconds:g} seconds.")
    except OSError as error:
        raise CannotCheck(
            f"the script {command.name} cannot be started ({error.strerror}). Check its path and permissions."
        ) from error
    return PASSED if ended.code == 0 else Finding(False, failure_message(command, ended))


def failure_message(command: Command, ended: CommandResult) -> str:
    """The script's output, for people and for the next prompt."""
    if ended.too_long:
        return f"The script {command.name} wrote more than {command.output_bytes:,} bytes."
    output = (ended.out.strip() or ended.err.strip())[:OUTPUT_CHARS]
    return output or f"The script {command.name} ended with status {ended.code}."


def _parts(parameters: Parameters) -> tuple[str, ...]:
    command = parameters["command"]
    assert isinstance(command, list | tuple)
    return tuple(str(part) for part in command)
