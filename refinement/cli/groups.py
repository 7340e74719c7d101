"""Command groups that import commands on use, so that `wiggum --help` is fast."""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import click

from refinement.cli.exits import Exit, NotThere


class LazyCommand(NamedTuple):
    """A command's module, name and summary."""

    module: str
    name: str
    summary: str


class LazyGroup(click.Group):
    """A group that imports its commands on use."""

    def __init__(self, *args: Any, commands_by_name: Mapping[str, LazyCommand], **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands_by_name = dict(commands_by_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands_by_name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.commands_by_name.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(import_module(entry.module), entry.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.commands_by_name.items()])


KINDS = {
    Exit.FAILED: "failed",
    Exit.USAGE: "usage",
    Exit.UNAVAILABLE: "unavailable",
    Exit.REFUSED: "refused",
}
PLACE = re.compile(r"(?P<file>[^:\n]+):(?P<line>\d+): (?P<message>.+)", re.DOTALL)


def wants_json(args: Sequence[str]) -> bool:
    return "--json" in args


def error_record(error: click.ClickException) -> dict[str, object]:
    """The error as JSON. Messages that start with FILE:LINE are listed with their place."""
    message = error.format_message()
    places = [match.groupdict() for line in message.splitlines() if (match := PLACE.fullmatch(line))]
    problems = [{**place, "line": int(place["line"])} for place in places]
    kind = "not_found" if isinstance(error, NotThere) else KINDS.get(Exit(error.exit_code), "failed")
    return {"error": {"code": error.exit_code, "kind": kind, "message": message, "problems": problems}}


class RootGroup(LazyGroup):
    """The root command. Always exits with a documented code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        def called() -> Any:
            return click.Group.main(self, args, prog_name, complete_var, standalone_mode=False, **extra)

        given = sys.argv[1:] if args is None else args
        return sys.exit(self._ended(called, given)) if standalone_mode else called()

    def _ended(self, called: Callable[[], Any], args: Sequence[str]) -> int:
        try:
            code = called()
        except click.ClickException as error:
            error.show()
            if wants_json(args):
                click.echo(json.dumps(error_record(error), ensure_ascii=False, indent=2))
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted.", err=True)
            return Exit.INTERRUPTED
        except BrokenPipeError:
            # The reader closed the pipe, as `head` does.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return Exit.OK
        except SystemExit as ended:
            return self._code_of(ended)
        return code if isinstance(code, int) else Exit.OK

    def _code_of(self, ended: SystemExit) -> int:
        """The exit code. A text instead of a number is an invalid setting or database."""
        if isinstance(ended.code, str):
            click.echo(ended.code, err=True)
            return Exit.UNAVAILABLE
        return ended.code or Exit.OK
