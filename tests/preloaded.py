"""Starts Python processes by forking one that has imported the application, which takes over a second.

`python -m tests.preloaded` reads requests from its input, one JSON object per line. It has no threads and no
connections, so that a child starts without them. A child exits like any interpreter, and can be killed.
"""

import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO
from uuid import uuid4

from benchmarks.instance import ROOT, Instance

LOOK_SECONDS = 0.02
PRELOADED = (
    "refinement.actors",
    "refinement.management.commands.worker",
    "refinement.selectors.rubrics.definitions",
)


class Forked:
    """A child of the preloaded process, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, preloaded: "Preloaded", pid: int) -> None:
        self.preloaded = preloaded
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self.preloaded.ask(ended=self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        until = time.monotonic() + timeout if timeout is not None else None
        while (status := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(LOOK_SECONDS)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Preloaded(Instance):
    """An instance that forks its processes. Use it as a context manager."""

    def __enter__(self) -> "Preloaded":
        self.parent = subprocess.Popen(
            [sys.executable, "-m", "tests.preloaded"],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        with self.parent:
            self.parent.kill()

    def ask(self, **request: object) -> int | None:
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        self.parent.stdin.write(json.dumps(request) + "\n")
        self.parent.stdin.flush()
        answer: int | None = json.loads(self.parent.stdout.readline())
        return answer

    def start(self, *arguments: str, quiet: bool = True) -> Forked:  # type: ignore[override]
        process = self.fork(arguments, os.devnull if quiet else "/dev/stderr")
        self.processes.append(process)  # type: ignore[arg-type]
        return process

    def manage(self, *arguments: str) -> str:
        return self.run("manage.py", *arguments)

    def run(self, *arguments: str) -> str:
        """Waits until the process has exited with 0; returns its output."""
        with NamedTemporaryFile("r") as output:
            status = self.fork(arguments, output.name).wait()
            written = output.read()
        assert status == 0, written
        return written

    def fork(self, arguments: tuple[str, ...], output: str) -> Forked:
        pid = self.ask(start=arguments, output=output)
        assert pid is not None
        return Forked(self, pid)


def preload() -> None:
    import django

    django.setup()
    for name in PRELOADED:
        import_module(name)
    gc.collect()
    gc.freeze()


def serve(requests: IO[str]) -> dict[str, object]:
    """Answers requests. In a child, returns the request that it carries out."""
    for line in requests:
        request = json.loads(line)
        if "ended" in request:
            pid, status = os.waitpid(request["ended"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                return request
        print(json.dumps(answer), flush=True)
    sys.exit()


def become(arguments: list[str], output: str) -> None:
    """Runs a module (-m) or a file, as the interpreter does with these arguments."""
    from wiggum_site.broker import broker

    # Brokers name their process when they are created, which was before the fork.
    for name in ("owner", "broker_id"):
        if hasattr(broker, name):
            setattr(broker, name, str(uuid4()))
    for path, mode, number in ((os.devnull, os.O_RDONLY, 0), (output, os.O_WRONLY | os.O_APPEND, 1)):
        opened = os.open(path, mode)
        os.dup2(opened, number)
        os.close(opened)
    os.dup2(1, 2)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(str(Path(ROOT, arguments[0])), run_name="__main__")


if __name__ == "__main__":
    preload()
    wanted = serve(sys.stdin)
    become(wanted["start"], wanted["output"])  # type: ignore[arg-type]
