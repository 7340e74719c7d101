"""Options that commands share: instance, project and output format."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
TOKEN_HELP = "the token for --server; prefer WIGGUM_TOKEN or @FILE, because others can see command lines"


def json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="print JSON; see docs/cli.md for the format")(
        command
    )


def project_option(command: Command) -> Command:
    return click.option("--project", metavar="SLUG", help="the project; required if there are several")(
        command
    )


def server_options(command: Command) -> Command:
    """--server and --token, for a remote instance."""
    token = click.option("--token", envvar="WIGGUM_TOKEN", metavar="TOKEN|@FILE", help=TOKEN_HELP)
    server = click.option(
        "--server", envvar="WIGGUM_SERVER", metavar="URL", help="the URL of a remote instance"
    )
    return server(token(command))


def on_instance(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the shared options, and passes the instance they select to the command."""

    own = list(getattr(command, "__click_params__", []))

    @server_options
    @project_option
    @json_option
    @wraps(command)
    def opened(*args: Any, server: str | None, token: str | None, project: str | None, **options: Any) -> Any:
        from refinement.cli.instances.opening import instance_opened

        with instance_opened(server=server, token=token, project=project) as instance:
            return command(instance, *args, **options)

    # Click stores options in reverse: the command's own options are listed before the shared ones.
    params: list[click.Parameter] = opened.__click_params__  # type: ignore[attr-defined]
    params[:] = params[len(own) :] + own
    return opened
