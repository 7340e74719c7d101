"""The children of this process: few, started when they are needed, ended when nobody needs them."""

import atexit
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from refinement.judging.isolation.limits import SECONDS, Limit, Look, available, current_look, spend
from refinement.judging.isolation.process import LOOK_SECONDS, ChildProcess, Ended

MOST_CHILDREN = 2
START_SECONDS = 10.0
WAIT_SECONDS = 5.0  # for a free child, where nobody else has to be told that we wait
IDLE_SECONDS = 300.0  # then a child ends by itself
LEAST_SECONDS = 0.2  # less would blame a request for the time that others took
SPARE_SECONDS = 30.0  # a child that is about to end is not sent anything

log = logging.getLogger("wiggum.isolation")


@dataclass(slots=True)
class Outcome:
    """The answers that came, and what kept the others from coming."""

    answers: list[Any] = field(default_factory=list)
    limit: Limit | None = None


class Pool:
    """Hands out children, one request at a time each."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(MOST_CHILDREN)
        self._idle: list[ChildProcess] = []  # append and pop are atomic

    def run(self, operation: str, arguments: dict[str, Any], seconds: float) -> Outcome:
        look, outcome = current_look(), Outcome()
        allowed = available(seconds)
        if allowed < LEAST_SECONDS:
            return Outcome(limit=Limit.SPENT)
        request = {"operation": operation, "arguments": arguments}
        try:
            with self._turn(look), self._child(look) as child:
                for answer in child.answers(request, allowed, look):
                    outcome.answers.append(answer)  # one by one: those before a limit count
        except Ended as ended:
            outcome.limit = ended.limit
            log.warning("operation=%s limit=%s %s", operation, ended.limit, ended)
        return outcome

    def close(self) -> None:
        """Ends the children that nobody uses."""
        while self._idle:
            self._idle.pop().stop()

    @contextmanager
    def _turn(self, look: Look | None) -> Iterator[None]:
        until = time.monotonic() + WAIT_SECONDS
        while not self._free.acquire(timeout=LOOK_SECONDS):
            if look is not None:
                look()
            elif time.monotonic() >= until:
                raise Ended(Limit.BUSY)
        try:
            yield
        finally:
            self._free.release()

    @contextmanager
    def _child(self, look: Look | None) -> Iterator[ChildProcess]:
        """An idle child or a new one; only one that has answered in full is kept."""
        child = self._reusable() or ChildProcess(IDLE_SECONDS)
        kept = False
        try:
            if not child.ready:
                child.wait_until_ready(START_SECONDS, look)
            yield child
            kept = child.reusable
        finally:
            if kept:
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
    """Carries out one of the operations of `child.py`, killed after these seconds of processor time."""
    return _pool.run(operation, arguments, seconds)


def close() -> None:
    _pool.close()


def _start_over() -> None:
    """After a fork: the parent's children are not ours to talk to."""
    global _pool
    _pool = Pool()


atexit.register(close)
os.register_at_fork(after_in_child=_start_over)
