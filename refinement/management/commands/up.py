"""Starts everything on one machine: the tables, the static files, one web and one worker process."""

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
# The instance before this one may still be ending.
PORT_WAIT_SECONDS = 8.0
PORT_LOOK_SECONDS = 0.1
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]


class Command(BaseCommand):
    help = "Prepares the database and the static files, then runs one web and one worker process."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=None, help="the address to listen on (HOST; 127.0.0.1)")
        parser.add_argument("--port", default=None, type=int, help="the port to listen on (PORT; 8000)")
        parser.add_argument(
            "--no-worker", action="store_true", help="run the web process alone; workers are elsewhere"
        )

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
                f"wiggum: {count} stored secrets cannot be decrypted, because SECRET_KEY was changed: "
                "webhooks and second factors fail. Set WIGGUM_SECRET_KEY_FALLBACKS to the old key, and see "
                "what wiggum doctor says."
            )

    def collect_static(self) -> None:
        """Collects static files, unless they are those of the last time."""
        if static_is_current():
            return
        fingerprint = static_fingerprint()
        self.stdout.write("Collecting static files ...")
        self.stdout.flush()
        if subprocess.run([*MANAGE, "collectstatic", "--no-input", "--verbosity", "0"]).returncode:
            raise SystemExit("wiggum: the static files could not be collected; the reason stands above.")
        kept_fingerprint().write_text(fingerprint)


def stop_quietly(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def port_check(host: str, port: int) -> None:
    """Waits a moment for the address to become free; ends the process with one line when it does not."""
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
            "stop what uses it, or choose another with HOST= and PORT=."
        )


def port_problem(host: str, port: int) -> str:
    """Why the address cannot be listened on; empty where it can."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except OSError as error:
        return str(error.strerror)
    return ""


def serving_plan(host: str, port: int, token: str | None, *, with_worker: bool) -> ServingPlan:
    """What the supervisor needs to know; it has no settings of its own."""
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
        # One open event stream would hold up the end for ever without a limit.
        *("--workers-kill-timeout", "3", "--backlog", "4096", "--backpressure", "16384"),
        # A connection that sends no whole request head is closed in time. With HTTP/2 on, granian waits for
        # the first byte without a limit; the proxy in front speaks HTTP/1 to us anyway.
        *("--http", "1", "--http1-header-read-timeout", "10000", "--http1-buffer-size", "65536"),
        *("--no-ws", "--log-level", "warning", "--no-access-log", "--working-dir", str(settings.BASE_DIR)),
    ]


def announcement(address: str, token: str | None) -> str:
    ready = f"Wiggum is ready at {address}"
    if token is None:
        return ready
    return (
        f"{ready}\nNobody has an account yet. Open this link to make the first one; it works once:\n"
        f"{address}welcome/{token}/"
    )


def supervise(plan: ServingPlan) -> NoReturn:
    """Turns this process into the supervisor, which does without Django and its memory."""
    os.chdir(settings.BASE_DIR)
    os.environ[PLAN] = plan.packed()
    os.execv(sys.executable, [sys.executable, "-m", "refinement.serving"])
