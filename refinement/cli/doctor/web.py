"""Checks of the web process: its port and static files."""

import http.client
import json

from django.conf import settings

from refinement.cli.doctor.findings import Finding, fail, ok, warn
from refinement.management.commands.up import EVERY_ADDRESS, port_problem
from refinement.static_fingerprint import static_is_current
from wiggum_site import VERSION
from wiggum_site import environment as env

LOOK_SECONDS = 2.0
MOST_BYTES = 10_000


def port(host: str | None = None, number: int | None = None) -> Finding:
    """Whether Wiggum responds on its port, or the port is free."""
    host = host or env.text("HOST", "127.0.0.1")
    number = number or env.number("PORT", 8000, minimum=1, maximum=65_535)
    reached = EVERY_ADDRESS.get(host, host)
    version = version_served(reached, number)
    if version == VERSION:
        return ok("port", f"Wiggum {version} responds on {host}:{number}")
    if version:
        what = f"Wiggum {version} responds on {host}:{number}; this is {VERSION}"
        return warn("port", what, "Restart it to use this version.")
    problem = port_problem(host, number)
    if problem:
        return fail(
            "port",
            f"{host}:{number} is not available: {problem}",
            f"Stop what uses it (ss -ltnp 'sport = :{number}' names it), or choose another port with PORT=.",
        )
    return ok("port", f"{host}:{number} is free; wiggum up will listen there")


def version_served(host: str, number: int) -> str:
    """The version of Wiggum on this port, or an empty string."""
    accepted = settings.ALLOWED_HOSTS[0]
    connection = http.client.HTTPConnection(host, number, timeout=LOOK_SECONDS)
    try:
        connection.request(
            "GET", "/healthz", headers={"Host": "localhost" if accepted == "*" else accepted.lstrip(".")}
        )
        health = json.loads(connection.getresponse().read(MOST_BYTES))
        return str(health["version"])
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return ""
    finally:
        connection.close()


def static_files() -> Finding:
    if static_is_current():
        return ok("static files", f"collected in {settings.STATIC_ROOT}")
    return warn(
        "static files",
        "not collected, or from another version",
        "Run wiggum up, which collects them.",
    )
