"""The evaluator service: runs evaluators' commands for workers, over a Unix socket.

    python -m refinement.providers.sandbox.service

It is meant for a separate container without secrets: no database, no keys, no network. A request is one line
of JSON with a job. The answer is a line with the last line of output, about once a second while the job runs,
and a line with its result. Closing the connection stops the job.
"""

import json
import os
import select
import signal
import socket
import socketserver
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from refinement.providers.sandbox.bubblewrap import own_paths
from refinement.providers.sandbox.jobs import Busy, CannotStart, Job, NoSandbox, SandboxConfig
from refinement.providers.sandbox.protection import close_to_own_account
from refinement.providers.sandbox.running import run_job

REQUEST_BYTES = 64_000_000
REQUEST_SECONDS = 30.0
LONGEST_SECONDS = 3_600
ANY = "*"


class ClientGone(Exception):
    """The client closed the connection."""


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(
        self,
        path: str,
        commands: frozenset[str],
        config: SandboxConfig,
        network: frozenset[str] = frozenset(),
    ) -> None:
        self.commands = commands
        self.network = network  # programs that may use it
        self.config = config
        Path(path).unlink(missing_ok=True)  # left behind by a killed process
        super().__init__(path, Handler)

    def answer(self, request: Mapping[str, Any], connection: socket.socket) -> dict[str, Any]:
        """The job's result, or why it was not run."""

        def check() -> None:
            readable, _, _ = select.select([connection], [], [], 0)
            if readable and not connection.recv(1, socket.MSG_PEEK):
                raise ClientGone

        def on_line(line: str) -> None:
            connection.sendall(json.dumps({"line": line}).encode() + b"\n")

        try:
            job = job_of(request, self.network)
            if not self.commands & {job.command[0], ANY}:
                return failure("cannot_start", "the evaluator service's WIGGUM_COMMANDS does not allow it")
            return {"finished": asdict(run_job(job, self.config, check, on_line))}
        except Busy:
            return failure("busy", "")
        except NoSandbox as problem:
            return failure("no_sandbox", str(problem))
        except (CannotStart, ValueError) as problem:
            return failure("cannot_start", str(problem))


class Handler(socketserver.StreamRequestHandler):
    """One request, one answer."""

    timeout = REQUEST_SECONDS
    server: Server

    def handle(self) -> None:
        with suppress(OSError, ValueError, ClientGone):
            request = json.loads(self.rfile.readline(REQUEST_BYTES))
            if isinstance(request, dict):
                answer = self.server.answer(request, self.connection)
                self.wfile.write(json.dumps(answer).encode() + b"\n")


def job_of(request: Mapping[str, Any], network: frozenset[str]) -> Job:
    """The requested job, with this service's own limits; raises ValueError for an invalid request."""
    command, seconds = request.get("command"), request.get("seconds")
    if not isinstance(command, list) or not command or not all(isinstance(part, str) for part in command):
        raise ValueError("the command is not a list of strings")
    if not isinstance(seconds, int) or not 1 <= seconds <= LONGEST_SECONDS:
        raise ValueError(f"the time limit is not between 1 and {LONGEST_SECONDS} seconds")
    return Job(
        command,
        str(request.get("text", "")),
        seconds,
        str(request.get("file_name", "")),
        network=request.get("network") is True and bool(network & {command[0], ANY}),
    )


def failure(kind: str, message: str) -> dict[str, Any]:
    return {"failure": kind, "message": message}


def names(variable: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in os.environ.get(variable, "").split(",") if part.strip())


def main() -> None:
    path = os.environ.get("WIGGUM_EVALUATOR_SOCKET", "").strip()
    if not path:
        sys.exit("wiggum: set WIGGUM_EVALUATOR_SOCKET to the path to listen at.")
    commands = names("WIGGUM_COMMANDS")
    programs = tuple(name for name in commands if name.startswith("/"))
    config = SandboxConfig(
        readable=(*names("WIGGUM_COMMANDS_READABLE"), *programs),
        hidden=own_paths(),
        allow_unsafe=os.environ.get("WIGGUM_UNSAFE_COMMANDS_WITHOUT_SANDBOX", "") == "1",
    )
    close_to_own_account()
    signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit(0))
    network = frozenset(names("WIGGUM_COMMANDS_NETWORK"))
    with Server(path, frozenset(commands), config, network) as server, suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
