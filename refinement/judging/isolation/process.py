"""Starts, queries and kills one child process."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from refinement.judging.isolation.limits import Limit, WaitCallback

CHILD = Path(__file__).with_name("child.py")
ROOT = Path(__file__).parents[3]
# The child gets no other environment variables, so it cannot read secrets.
KEPT_VARIABLES = ("LD_LIBRARY_PATH",)
POLL_SECONDS = 0.25
PATIENCE, LONG_PATIENCE = 1.5, 10.0  # wall-clock seconds per second of processor time
READ_BYTES = 1 << 16


class RequestEnded(Exception):
    """The child did not answer completely. It must not be used again."""

    def __init__(self, limit: Limit, detail: str = "") -> None:
        super().__init__(detail or limit.value)
        self.limit = limit


class ChildProcess:
    """A child that answers one request at a time until its input is closed."""

    def __init__(self, idle_seconds: float) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(CHILD), str(ROOT), str(idle_seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env={name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)
        self._unread = b""
        self.used_at = time.monotonic()
        self.ready = False
        self.reusable = False
        self.spent = 0.0  # seconds of processor time, by the last request

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until_ready(self, seconds: float, on_wait: WaitCallback | None) -> None:
        """Waits for the first line, which the child writes after its imports."""
        self._line(time.monotonic() + seconds, on_wait)
        self.ready = True

    def answers(
        self, request: dict[str, Any], seconds: float, on_wait: WaitCallback | None
    ) -> Iterator[object]:
        """The child's answers, one by one. Raises RequestEnded at a limit.

        The seconds are processor time. With a wait callback, a request may wait longer on a busy machine.
        """
        until = time.monotonic() + seconds * (PATIENCE if on_wait is None else LONG_PATIENCE)
        self.reusable, self.spent = False, seconds
        self._write(encoded(request | {"seconds": seconds}), until, on_wait)
        while True:
            message = json.loads(self._line(until, on_wait))
            if "answer" in message:
                yield message["answer"]
                continue
            if "limit" in message:
                raise RequestEnded(Limit(message["limit"]), message.get("detail", ""))
            self.used_at, self.reusable = time.monotonic(), not message["last"]
            self.spent = message["seconds"]
            return

    def stop(self) -> None:
        """Kills the child."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _write(self, data: bytes, until: float, on_wait: WaitCallback | None) -> None:
        rest = memoryview(data)
        while rest:
            self._wait(self._stdin, selectors.EVENT_WRITE, until, on_wait)
            try:
                rest = rest[os.write(self._stdin, rest) :]
            except BrokenPipeError:
                raise RequestEnded(Limit.CRASH, "the child process has ended") from None

    def _line(self, until: float, on_wait: WaitCallback | None) -> bytes:
        pieces = [self._unread]
        while b"\n" not in pieces[-1]:
            self._wait(self._stdout, selectors.EVENT_READ, until, on_wait)
            piece = os.read(self._stdout, READ_BYTES)
            if not piece:
                status = self._process.wait()
                out_of_time = status == -signal.SIGPROF
                raise RequestEnded(
                    Limit.TIME if out_of_time else Limit.CRASH, f"the child ended with {status}"
                )
            pieces.append(piece)
        line, _, self._unread = b"".join(pieces).partition(b"\n")
        return line

    def _wait(self, descriptor: int, event: int, until: float, on_wait: WaitCallback | None) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            while not selector.select(max(0.0, min(POLL_SECONDS, until - time.monotonic()))):
                if time.monotonic() >= until:
                    raise RequestEnded(Limit.TIME)
                if on_wait is not None:
                    on_wait()


def encoded(request: dict[str, Any]) -> bytes:
    """A request as one line. Lone surrogates are kept."""
    return json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
