"""An instance elsewhere: whether it answers, is ready, goes by the same clock, and takes the token."""

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
    """Whether a Wiggum answers there, which one, and by which clock."""
    began = time.time()
    try:
        answer = httpx.get(f"{server}/healthz", timeout=LOOK_SECONDS)
        version = str(answer.json()["version"])
    except httpx.HTTPError as error:
        remedy = "Start it there, look at the address, and whether a firewall or proxy stands between."
        return [fail("server", f"{server} cannot be reached: {error}", remedy)]
    except (ValueError, KeyError, TypeError):
        return [fail("server", f"what answers at {server} is no Wiggum", "Look at the address.")]
    here = (began + time.time()) / 2
    return [version_finding(server, version), *server_clock(answer.headers.get("Date", ""), here)]


def version_finding(server: str, version: str) -> Finding:
    if version == VERSION:
        return ok("server", f"Wiggum {version} answers at {server}")
    what = f"{server} runs Wiggum {version}, and this command is {VERSION}"
    return warn("server", what, "Update the older one, so that they understand each other.")


def server_clock(date: str, here: float) -> list[Finding]:
    """The time that the answer bears; a server that tells none is not asked about it."""
    try:
        # Whole seconds were cut off: half of one is the likeliest rest.
        there = parsedate_to_datetime(date).timestamp() + 0.5
    except ValueError:
        return []
    return [clock_finding("server clock", "the server", there, here)]


def ready(server: str) -> list[Finding]:
    """What the instance says of its own database, broker and workers."""
    try:
        told = httpx.get(f"{server}/readyz", timeout=LOOK_SECONDS).json()
        parts = {name: told[name] for name in ("database", "broker", "worker")}
        missing = {name: str(part["message"]) for name, part in parts.items() if not part["ok"]}
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return [fail("ready", "it does not say whether it is ready", "See the finding about the server.")]
    if not missing:
        return [ok("ready", "its database, its broker and a worker are there")]
    return [
        fail(f"ready: {name}", words, "Run wiggum doctor on that machine.") for name, words in missing.items()
    ]


def token_works(server: str, token: str, project: str | None) -> Finding:
    wire = Wire(server, token)
    try:
        slug = RemoteInstance(wire, project).project
        role = wire.json("GET", f"projects/{slug}")["role"]
    except CommandFailed as error:
        return fail("token", error.message, "Make a token on the project's page “API tokens”: WIGGUM_TOKEN.")
    finally:
        wire.close()
    return ok("token", f"it works in the project {slug}, as {role}")
