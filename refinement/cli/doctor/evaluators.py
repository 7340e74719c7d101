"""Checks whether evaluator commands can run in a sandbox."""

import socket

from refinement.cli.doctor.findings import Finding, fail, ok, warn
from refinement.providers.sandbox.bubblewrap import INSTALL, sandbox_problem

NAME = "evaluators"
ANY = "*"
CONNECT_SECONDS = 3.0


def evaluators() -> Finding:
    """Check the sandbox of this machine, or the evaluator service."""
    from django.conf import settings

    from refinement.execution.commands.running import sandbox_config

    if not settings.COMMANDS:
        return ok(NAME, "commands are disabled (WIGGUM_COMMANDS is empty)")
    if settings.EVALUATOR_SOCKET:
        return service(settings.EVALUATOR_SOCKET)
    problem = sandbox_problem(sandbox_config(""))
    if not problem:
        return ok(NAME, f"commands run in a sandbox (bubblewrap){network(settings.COMMANDS_NETWORK)}")
    if settings.UNSAFE_COMMANDS:
        return warn(NAME, f"commands run without a sandbox: {problem}", INSTALL.partition(" Or set ")[0])
    return fail(NAME, f"commands are refused: {problem}", INSTALL)


def network(programs: list[str]) -> str:
    """Which programs may use the network, for the finding's text."""
    if not programs:
        return ""
    return f"; with network: {'any program' if ANY in programs else ', '.join(programs)}"


def service(path: str) -> Finding:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(CONNECT_SECONDS)
        try:
            connection.connect(path)
        except OSError as error:
            remedy = "Start it (docker compose up --detach evaluator), or unset WIGGUM_EVALUATOR_SOCKET."
            return fail(NAME, f"the evaluator service at {path} does not respond ({error})", remedy)
    return ok(NAME, f"the evaluator service responds at {path}")
