"""One child process: started, sent a request, read with a deadline, killed."""

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

from refinement.judging.isolation.limits import Limit, Look

CHILD = Path(__file__).with_name("child.py")
ROOT = Path(__file__).parents[3]
# Nothing else of this process's environment is needed there, least of all its secrets.
KEPT_VARIABLES = ("LD_LIBRARY_PATH",)
LOOK_SECONDS = 0.25
PATIENCE, LONG_PATIENCE = 1.5, 10.0  # seconds to wait for one second of processor time
READ_BYTES = 1 << 16


class Ended(Exception):
    """The child did not answer in full; it is not to be used again."""

    def __init__(self, limit: Limit, detail: str = "") -> None:
        super().__init__(detail or limit.value)
        self.limit = limit


class ChildProcess:
    """A child that answers one request at a time, for as long as its input stays open."""

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

    def wait_until_ready(self, seconds: float, look: Look | None) -> None:
        """Waits for its first line, which it writes once everything is imported."""
        self._line(time.monotonic() + seconds, look)
        self.ready = True

    def answers(self, request: dict[str, Any], seconds: float, look: Look | None) -> Iterator[object]:
        """What the child answers, piece by piece; raises Ended at a limit.

        The seconds are processor time. Somebody who looks can wait longer for them on a busy machine.
        """
        until = time.monotonic() + seconds * (PATIENCE if look is None else LONG_PATIENCE)
        self.reusable, self.spent = False, seconds
        self._write(encoded(request | {"seconds": seconds}), until, look)
        while True:
            said = json.loads(self._line(until, look))
            if "answer" in said:
                yield said["answer"]
                continue
            if "limit" in said:
                raise Ended(Limit(said["limit"]), said.get("detail", ""))
            self.used_at, self.reusable = time.monotonic(), not said["last"]
            self.spent = said["seconds"]
            return

    def stop(self) -> None:
        """Kills the child, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _write(self, data: bytes, until: float, look: Look | None) -> None:
        rest = memoryview(data)
        while rest:
            self._wait(self._stdin, selectors.EVENT_WRITE, until, look)
            try:
                rest = rest[os.write(self._stdin, rest) :]
            except BrokenPipeError:
                raise Ended(Limit.CRASH, "the child process has ended") from None

    def _line(self, until: float, look: Look | None) -> bytes:
        pieces = [self._unread]
        while b"\n" not in pieces[-1]:
            self._wait(self._stdout, selectors.EVENT_READ, until, look)
            piece = os.read(self._stdout, READ_BYTES)
            if not piece:
                status = self._process.wait()
                out_of_time = status == -signal.SIGPROF
                raise Ended(Limit.TIME if out_of_time else Limit.CRASH, f"the child ended with {status}")
            pieces.append(piece)
        line, _, self._unread = b"".join(pieces).partition(b"\n")
        return line

    def _wait(self, descriptor: int, event: int, until: float, look: Look | None) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            while not selector.select(max(0.0, min(LOOK_SECONDS, until - time.monotonic()))):
                if time.monotonic() >= until:
                    raise Ended(Limit.TIME)
                if look is not None:
                    look()


def encoded(request: dict[str, Any]) -> bytes:
    """A request as one line; a lone surrogate in a text travels as it is."""
    return json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
