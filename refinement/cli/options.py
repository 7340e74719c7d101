"""Options that commands share: which instance, which project, and how the result is printed."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="print JSON; docs/cli.md has its shape")(
        command
    )


def project_option(command: Command) -> Command:
    return click.option(
        "--project", metavar="SLUG", help="the project; needed where there are several to choose from"
    )(command)


def on_instance(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives the command an open `instance`, by the options that it adds."""

    @project_option
    @json_option
    @wraps(command)
    def opened(*args: Any, project: str | None, **options: Any) -> Any:
        from refinement.cli.instances.opening import local_opened

        with local_opened(project) as instance:
            return command(instance, *args, **options)

    return opened
