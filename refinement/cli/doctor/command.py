"""`wiggum doctor`: runs all checks and prints problems with their fixes."""

import sys
from collections.abc import Sequence
from functools import partial

import click

from refinement.cli.doctor import machine
from refinement.cli.doctor.findings import Check, Finding, findings_of
from refinement.cli.doctor.settings import secret_key, settings_read
from refinement.cli.exits import BadInput, Exit
from refinement.cli.options import json_option, project_option, server_options
from refinement.cli.output import coloured, print_json, shown
from refinement.cli.terminal import StatusLine

EXAMPLES = """
\b
Examples:
  wiggum doctor
  wiggum doctor --skip worker --skip port    on a machine that only runs evaluations
  wiggum doctor --model ollama/qwen3:14b     also requires this model
  wiggum doctor --server https://wiggum.example.org
  wiggum doctor --json | jq -r '.findings[] | select(.status != "ok") | .remedy'

\b
Exit status: 0 if no check fails (warnings are allowed), 3 otherwise.
"""


@click.command(epilog=EXAMPLES)
@click.option("--skip", multiple=True, metavar="NAME", help="skip this check, such as worker")
@click.option(
    "--model", "models", multiple=True, metavar="ENDPOINT/MODEL", help="a model that must be available"
)
@server_options
@project_option
@json_option
def doctor(
    skip: tuple[str, ...],
    models: tuple[str, ...],
    server: str | None,
    token: str | None,
    project: str | None,
    as_json: bool,
) -> None:
    """Find problems and say how to fix them.

    Checks Python and packages, settings, disk, database, migrations, broker, workers, clocks, port, static
    files, endpoints and their models, and the evaluator sandbox. With --server, checks whether that instance
    is reachable and ready, its version and clock, and the token. Changes nothing.
    """
    with StatusLine(sys.stderr) as status:
        status.show("Checking")
        findings = server_findings(server, token, project) if server else local_findings(models, skip)
    failed = sum(finding.status == "fail" for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": [finding.as_json() for finding in findings]})
    else:
        print_findings(findings)
    sys.exit(Exit.UNAVAILABLE if failed else Exit.OK)


def local_findings(models: Sequence[str], skip: Sequence[str] = ()) -> list[Finding]:
    """All findings. Checks that need the settings run only if they are valid."""
    settings = settings_read()
    checks: dict[str, Check] = {
        "python": machine.python,
        "packages": machine.packages,
        "disk": machine.disk,
        "demo model": machine.embedded_model,
    }
    if settings.status != "fail":
        checks |= instance_checks(models)
        if unknown := sorted(set(skip) - set(checks)):
            raise BadInput(f"--skip {unknown[0]}: no such check. Choose from {', '.join(checks)}.")
    return [settings, *findings_of({name: check for name, check in checks.items() if name not in skip})]


def server_findings(server: str, token: str | None, project: str | None) -> list[Finding]:
    """Findings about a remote instance."""
    from refinement.cli.doctor.server import server_checks
    from refinement.cli.instances.opening import token_given
    from refinement.cli.instances.wire import server_address, token_checked

    checks = server_checks(server_address(server), token_checked(token_given(token)), project)
    return list(findings_of(checks))


def instance_checks(models: Sequence[str]) -> dict[str, Check]:
    from refinement.cli.doctor import data, endpoints, evaluators, queues, web
    from refinement.cli.doctor.secrets import stored_secrets
    from refinement.providers.registry import parse_target

    try:
        wanted = [parse_target(model) for model in models]
    except ValueError as error:
        raise BadInput(f"--model: {error}") from None
    data.connecting_limit()
    return {
        "secret key": secret_key,
        "stored secrets": stored_secrets,
        "database": data.database,
        "migrations": data.migrations,
        "database clock": data.database_clock,
        "broker": queues.broker,
        "worker": queues.workers,
        "port": web.port,
        "static files": web.static_files,
        "endpoints": partial(endpoints.endpoints, wanted),
        "evaluators": evaluators.evaluators,
    }


def print_findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        padding = " " * (5 - len(finding.status))
        click.echo(f"{coloured(finding.status)}{padding}{finding.name}: {shown(finding.what)}")
        if finding.remedy:
            click.echo(f"     → {shown(finding.remedy)}")
    failed = sum(finding.status == "fail" for finding in findings)
    warned = sum(finding.status == "warn" for finding in findings)
    click.echo(f"\n{len(findings)} checked: {failed} failed, {warned} warning{'' if warned == 1 else 's'}.")
