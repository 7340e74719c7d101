"""Checks of a remote instance: reachable, ready, version, clock and token."""

import time
from email.utils import parsedate_to_datetime
from functools import partial

import httpx

from refinement.cli.doctor.clocks import clock_finding
from refinement.cli.doctor.findings import Check, Finding, fail, ok, warn
from refinement.cli.exits import CommandFailed
from refinement.cli.instances.remote import RemoteInstance
from refinement.cli.instances.wire import Wire
from wiggum_site import VERSION

LOOK_SECONDS = 5.0


def server_checks(server: str, token: str, project: str | None) -> dict[str, Check]:
    return {
        "server": partial(reachable, server),
        "ready": partial(ready, server),
        "token": partial(token_works, server, token, project),
    }


def reachable(server: str) -> list[Finding]:
    """Whether Wiggum responds there, its version and its clock."""
    began = time.time()
    try:
        answer = httpx.get(f"{server}/healthz", timeout=LOOK_SECONDS)
        version = str(answer.json()["version"])
    except httpx.HTTPError as error:
        remedy = "Start it there, and check the URL, firewalls and proxies."
        return [fail("server", f"{server} cannot be reached: {error}", remedy)]
    except (ValueError, KeyError, TypeError):
        return [fail("server", f"the server at {server} is not Wiggum", "Check the URL.")]
    here = (began + time.time()) / 2
    return [version_finding(server, version), *server_clock(answer.headers.get("Date", ""), here)]


def version_finding(server: str, version: str) -> Finding:
    if version == VERSION:
        return ok("server", f"Wiggum {version} responds at {server}")
    what = f"{server} runs Wiggum {version}; this command is {VERSION}"
    return warn("server", what, "Update the older one.")


def server_clock(date: str, here: float) -> list[Finding]:
    """Compare with the response's Date header, if there is one."""
    try:
        # The header has whole seconds; half a second is the expected remainder.
        there = parsedate_to_datetime(date).timestamp() + 0.5
    except ValueError:
        return []
    return [clock_finding("server clock", "the server", there, here)]


def ready(server: str) -> list[Finding]:
    """The instance's readiness report about its database, broker and workers."""
    try:
        report = httpx.get(f"{server}/readyz", timeout=LOOK_SECONDS).json()
        parts = {name: report[name] for name in ("database", "broker", "worker")}
        missing = {name: str(part["message"]) for name, part in parts.items() if not part["ok"]}
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return [fail("ready", "no readiness report", "See the finding about the server.")]
    if not missing:
        return [ok("ready", "its database, broker and a worker are available")]
    return [
        fail(f"ready: {name}", message, "Run wiggum doctor on that machine.")
        for name, message in missing.items()
    ]


def token_works(server: str, token: str, project: str | None) -> Finding:
    wire = Wire(server, token)
    try:
        slug = RemoteInstance(wire, project).project
        role = wire.json("GET", f"projects/{slug}")["role"]
    except CommandFailed as error:
        return fail(
            "token", error.message, "Create a token on the project's API tokens page and set WIGGUM_TOKEN."
        )
    finally:
        wire.close()
    return ok("token", f"valid for project {slug}, as {role}")
