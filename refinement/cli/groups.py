"""Groups of commands that are imported when they are called: `wiggum --help` stays quick."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import click

from refinement.cli.exits import Exit


class Place(NamedTuple):
    """Where a command is, and its line in the list."""

    module: str
    name: str
    summary: str


class LazyGroup(click.Group):
    """A group whose commands are named with the module that has them."""

    def __init__(self, *args: Any, places: Mapping[str, Place], **options: Any) -> None:
        super().__init__(*args, **options)
        self.places = dict(places)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = self.places.get(cmd_name)
        if place is None:
            return None
        command: click.Command = getattr(import_module(place.module), place.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.summary) for name, place in self.places.items()])


class RootGroup(LazyGroup):
    """The command itself: every way to end leads to one of the documented exit codes."""

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

        return sys.exit(self._ended(called)) if standalone_mode else called()

    def _ended(self, called: Callable[[], Any]) -> int:
        try:
            code = called()
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted.", err=True)
            return Exit.INTERRUPTED
        except BrokenPipeError:
            # Whoever read our output has enough of it, as `head` does.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return Exit.OK
        except SystemExit as ended:
            return self._code_of(ended)
        return code if isinstance(code, int) else Exit.OK

    def _code_of(self, ended: SystemExit) -> int:
        """A line of text instead of a number is a setting or a database that cannot be used."""
        if isinstance(ended.code, str):
            click.echo(ended.code, err=True)
            return Exit.UNAVAILABLE
        return ended.code or Exit.OK
