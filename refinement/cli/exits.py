"""How commands end: the exit codes, in one place, and the errors that lead to them."""

from enum import IntEnum
from typing import IO, Any

import click


class Exit(IntEnum):
    """What a script may rely on; docs/cli.md tells the same."""

    OK = 0
    FAILED = 1  # the thing itself failed: a run ended in FAIL, a case of an evaluation did not pass
    USAGE = 2  # wrong options, a file that cannot be read
    UNAVAILABLE = 3  # something cannot be reached or is misconfigured; a run ended in ERROR
    REFUSED = 4  # not there, not allowed, or not possible as things are
    INTERRUPTED = 130  # Ctrl-C; a run was cancelled


# By the run's outcome as it is kept; a test holds it against the engine's own list.
OUTCOMES = {
    "PASS": Exit.OK,
    "DONE": Exit.OK,
    "FAIL": Exit.FAILED,
    "ERROR": Exit.UNAVAILABLE,
    "CANCELLED": Exit.INTERRUPTED,
}


class CommandFailed(click.ClickException):
    """Ends the command with one message for people: what was wrong, where, and what to do."""

    exit_code = Exit.FAILED

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"wiggum: {self.format_message()}", file=file, err=file is None)


class BadInput(CommandFailed):
    exit_code = Exit.USAGE


class Unavailable(CommandFailed):
    exit_code = Exit.UNAVAILABLE


class Refused(CommandFailed):
    exit_code = Exit.REFUSED


class NotThere(Refused):
    """A server answered that there is no such thing, or not for this token."""
