"""Exit codes, and the errors that lead to them."""

from enum import IntEnum
from typing import IO, Any

import click


class Exit(IntEnum):
    """The stable exit codes, documented in docs/cli.md."""

    OK = 0
    FAILED = 1  # a run ended in FAIL, or an eval case failed
    USAGE = 2  # invalid options, or a file that cannot be read
    UNAVAILABLE = 3  # something cannot be reached or is misconfigured; a run ended in ERROR
    REFUSED = 4  # not found, not allowed, or not possible in the current state
    ASKING = 5  # a run waits for a person's decision
    INTERRUPTED = 130  # Ctrl-C; a run was cancelled


# By the run's outcome. A test compares it with the engine's list.
OUTCOMES = {
    "PASS": Exit.OK,
    "DONE": Exit.OK,
    "FAIL": Exit.FAILED,
    "ERROR": Exit.UNAVAILABLE,
    "CANCELLED": Exit.INTERRUPTED,
}


class CommandFailed(click.ClickException):
    """Ends the command with a message: what was wrong, where, and what to do."""

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
    """A file, a model or something on the server does not exist."""
