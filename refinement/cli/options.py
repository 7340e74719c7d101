"""Options that commands share: which instance, which project, and how the result is printed."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
TOKEN_HELP = "the token for --server; better in WIGGUM_TOKEN, or @FILE: others here may see this command line"


def json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="print JSON; docs/cli.md has its shape")(
        command
    )


def project_option(command: Command) -> Command:
    return click.option(
        "--project", metavar="SLUG", help="the project; needed where there are several to choose from"
    )(command)


def server_options(command: Command) -> Command:
    """--server and --token: where the instance is."""
    token = click.option("--token", envvar="WIGGUM_TOKEN", metavar="TOKEN|@FILE", help=TOKEN_HELP)
    server = click.option(
        "--server", envvar="WIGGUM_SERVER", metavar="URL", help="an instance elsewhere, by its API"
    )
    return server(token(command))


def on_instance(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives the command an open `instance`, local or remote, by the options that it adds."""

    own = list(getattr(command, "__click_params__", []))

    @server_options
    @project_option
    @json_option
    @wraps(command)
    def opened(*args: Any, server: str | None, token: str | None, project: str | None, **options: Any) -> Any:
        from refinement.cli.instances.opening import instance_opened

        with instance_opened(server=server, token=token, project=project) as instance:
            return command(instance, *args, **options)

    # Click lists them from the last to the first: a command's own options come before those of all.
    params: list[click.Parameter] = opened.__click_params__  # type: ignore[attr-defined]
    params[:] = params[len(own) :] + own
    return opened
