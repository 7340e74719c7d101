"""A pool of child processes, started on demand and stopped when idle."""

import atexit
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from refinement.judging.isolation.limits import SECONDS, Limit, WaitCallback, available, spend, wait_callback
from refinement.judging.isolation.process import POLL_SECONDS, ChildProcess, RequestEnded

MOST_CHILDREN = 2
START_SECONDS = 10.0
WAIT_SECONDS = 5.0  # for a free child, if there is no wait callback
IDLE_SECONDS = 300.0  # then an unused child exits
LEAST_SECONDS = 0.2  # with less time left, a request is not started
SPARE_SECONDS = 30.0  # a child this close to its idle exit is not used

log = logging.getLogger("wiggum.isolation")


@dataclass(slots=True)
class Outcome:
    """The answers of a request, and the limit that ended it, if any."""

    answers: list[Any] = field(default_factory=list)
    limit: Limit | None = None


class Pool:
    """Assigns requests to children. Each child runs one request at a time."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(MOST_CHILDREN)
        self._idle: list[ChildProcess] = []  # append and pop are atomic

    def run(self, operation: str, arguments: dict[str, Any], seconds: float) -> Outcome:
        on_wait, outcome = wait_callback(), Outcome()
        allowed = available(seconds)
        if allowed < LEAST_SECONDS:
            return Outcome(limit=Limit.SPENT)
        request = {"operation": operation, "arguments": arguments}
        try:
            with self._slot(on_wait), self._child(on_wait) as child:
                for answer in child.answers(request, allowed, on_wait):
                    outcome.answers.append(answer)  # one by one, to keep those before a limit
        except RequestEnded as ended:
            outcome.limit = ended.limit
            log.warning("operation=%s limit=%s %s", operation, ended.limit, ended)
        return outcome

    def close(self) -> None:
        """Stops the idle children."""
        while self._idle:
            self._idle.pop().stop()

    @contextmanager
    def _slot(self, on_wait: WaitCallback | None) -> Iterator[None]:
        until = time.monotonic() + WAIT_SECONDS
        while not self._free.acquire(timeout=POLL_SECONDS):
            if on_wait is not None:
                on_wait()
            elif time.monotonic() >= until:
                raise RequestEnded(Limit.BUSY)
        try:
            yield
        finally:
            self._free.release()

    @contextmanager
    def _child(self, on_wait: WaitCallback | None) -> Iterator[ChildProcess]:
        """An idle child or a new one. It is reused only if it answered completely."""
        child = self._reusable() or ChildProcess(IDLE_SECONDS)
        reusable = False
        try:
            if not child.ready:
                child.wait_until_ready(START_SECONDS, on_wait)
            yield child
            reusable = child.reusable
        finally:
            if reusable:
                self._idle.append(child)
            else:
                child.stop()
            spend(child.spent)

    def _reusable(self) -> ChildProcess | None:
        while self._idle:
            child = self._idle.pop()
            if time.monotonic() - child.used_at < IDLE_SECONDS - SPARE_SECONDS:
                return child
            child.stop()
        return None


_pool = Pool()


def run(operation: str, arguments: dict[str, Any], *, seconds: float = SECONDS) -> Outcome:
    """Runs one of the operations in `child.py`, limited to these seconds of processor time."""
    return _pool.run(operation, arguments, seconds)


def close() -> None:
    _pool.close()


def _start_over() -> None:
    """After a fork, a process needs its own children."""
    global _pool
    _pool = Pool()


atexit.register(close)
os.register_at_fork(after_in_child=_start_over)
