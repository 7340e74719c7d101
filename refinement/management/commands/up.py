"""Prepares the database and static files, and starts one web and one worker process."""

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from types import FrameType
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from refinement.management.plain_errors import plain_database_errors
from refinement.services.people.setup_links import setup_link_make
from refinement.services.secret_rotation import secrets_report
from refinement.serving import PLAN, ServingPlan
from refinement.static_fingerprint import kept_fingerprint, static_fingerprint, static_is_current
from wiggum_site import environment as env

EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  names them, binds nothing
# A previous instance may still be stopping.
PORT_WAIT_SECONDS = 8.0
PORT_LOOK_SECONDS = 0.1
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]


class Command(BaseCommand):
    help = "Prepares the database and the static files, then runs one web and one worker process."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=None, help="the address to listen on (HOST; 127.0.0.1)")
        parser.add_argument("--port", default=None, type=int, help="the port to listen on (PORT; 8000)")
        parser.add_argument("--no-worker", action="store_true", help="run only the web process")

    def handle(self, *args: Any, **options: Any) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop_quietly)
        host: str = options["host"] or env.text("HOST", "127.0.0.1")
        port: int = options["port"] or env.number("PORT", 8000, minimum=1, maximum=65535)
        port_check(host, port)
        with plain_database_errors():
            self.migrate()
            self.warn_of_unreadable_secrets()
            token = setup_link_make()
            connections.close_all()
        self.collect_static()
        self.stdout.flush()
        supervise(serving_plan(host, port, token, with_worker=not options["no_worker"]))

    def migrate(self) -> None:
        executor = MigrationExecutor(connections["default"])
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            self.stdout.write("Preparing the database ...")
            call_command("migrate", verbosity=0, interactive=False)

    def warn_of_unreadable_secrets(self) -> None:
        if count := len(secrets_report().unreadable):
            self.stderr.write(
                f"wiggum: {count} stored secrets cannot be decrypted, because SECRET_KEY has changed: "
                "webhooks and second factors fail. Set WIGGUM_SECRET_KEY_FALLBACKS to the old key, and run "
                "wiggum doctor."
            )

    def collect_static(self) -> None:
        """Collect static files if they have changed."""
        if static_is_current():
            return
        fingerprint = static_fingerprint()
        self.stdout.write("Collecting static files ...")
        self.stdout.flush()
        if subprocess.run([*MANAGE, "collectstatic", "--no-input", "--verbosity", "0"]).returncode:
            raise SystemExit("wiggum: the static files could not be collected; see the error above.")
        kept_fingerprint().write_text(fingerprint)


def stop_quietly(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def port_check(host: str, port: int) -> None:
    """Wait some seconds for the address to become free. Ends the process if it does not."""
    problem = port_problem(host, port)
    if problem == os.strerror(errno.EADDRINUSE):
        print(f"Port {port} is in use; waiting up to {PORT_WAIT_SECONDS:g} s for it ...", flush=True)
        until = time.monotonic() + PORT_WAIT_SECONDS
        while problem and time.monotonic() < until:
            time.sleep(PORT_LOOK_SECONDS)
            problem = port_problem(host, port)
    if problem:
        raise SystemExit(
            f"wiggum: cannot listen on {host} port {port} ({problem}); "
            "stop the process that uses it, or set HOST or PORT."
        )


def port_problem(host: str, port: int) -> str:
    """Why the process cannot listen on the address, or an empty string."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except OSError as error:
        return str(error.strerror)
    return ""


def serving_plan(host: str, port: int, token: str | None, *, with_worker: bool) -> ServingPlan:
    """The supervisor's configuration: it does not load the settings."""
    reached = EVERY_ADDRESS.get(host, host)
    address = f"http://[{reached}]:{port}/" if ":" in reached else f"http://{reached}:{port}/"
    first_host = settings.ALLOWED_HOSTS[0]
    commands = {"web": web_command(host, port)}
    if with_worker:
        commands["worker"] = [*MANAGE, "worker"]
    return ServingPlan(
        commands=commands,
        host=reached,
        port=port,
        accepted_host="localhost" if first_host == "*" else first_host.removeprefix("."),
        announcement=announcement(address, token),
    )


def web_command(host: str, port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "granian", "wiggum_site.asgi:application"),
        *("--interface", "asginl", "--host", host, "--port", str(port), "--workers", "1"),
        # Without a limit, an open event stream would prevent the shutdown.
        *("--workers-kill-timeout", "3", "--backlog", "4096", "--backpressure", "16384"),
        # Closes connections that send no complete request header. With HTTP/2, granian would wait for the
        # first byte without a limit; a reverse proxy uses HTTP/1 anyway.
        *("--http", "1", "--http1-header-read-timeout", "10000", "--http1-buffer-size", "65536"),
        *("--no-ws", "--log-level", "warning", "--no-access-log", "--working-dir", str(settings.BASE_DIR)),
    ]


def announcement(address: str, token: str | None) -> str:
    ready = f"Wiggum is ready at {address}"
    if token is None:
        return ready
    return (
        f"{ready}\nThere are no accounts yet. Open this one-time link to create the first one:\n"
        f"{address}welcome/{token}/"
    )


def supervise(plan: ServingPlan) -> NoReturn:
    """Replace this process with the supervisor, which saves memory by not loading Django."""
    os.chdir(settings.BASE_DIR)
    os.environ[PLAN] = plan.packed()
    os.execv(sys.executable, [sys.executable, "-m", "refinement.serving"])
