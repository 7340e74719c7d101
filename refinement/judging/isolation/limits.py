"""Limits on requests, and time limits shared by several requests."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

SECONDS = 1.0  # of processor time, for one request or for a group of requests
MEMORY_BYTES = 64 * 1024 * 1024  # for one request, on top of an idle child's 30 MB

WaitCallback: TypeAlias = Callable[[], None]


class Limit(StrEnum):
    """Why a request has no complete answer."""

    TIME = "time"
    SPENT = "spent"  # other requests used up the time that they share with this one
    MEMORY = "memory"
    CRASH = "crash"
    BUSY = "busy"


@dataclass(slots=True)
class Allowance:
    """Seconds left for all requests of a block. Outer blocks also apply."""

    left: float
    outer: "Allowance | None"

    def available(self) -> float:
        return min(self.left, self.outer.available()) if self.outer else self.left

    def spend(self, seconds: float) -> None:
        self.left -= seconds
        if self.outer:
            self.outer.spend(seconds)


_allowance: ContextVar[Allowance | None] = ContextVar("allowance", default=None)
_on_wait: ContextVar[WaitCallback | None] = ContextVar("on_wait", default=None)


@contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """All requests inside the block share these seconds. Waiting for a free child does not count."""
    token = _allowance.set(Allowance(seconds, _allowance.get()))
    try:
        yield
    finally:
        _allowance.reset(token)


@contextmanager
def while_waiting(on_wait: WaitCallback) -> Iterator[None]:
    """Calls `on_wait` a few times a second while a request inside the block is running.

    The callback can renew a lease, or raise to cancel the request. With a callback, a request waits for a
    free child without a limit; without one, it fails as busy after a few seconds.
    """
    token = _on_wait.set(on_wait)
    try:
        yield
    finally:
        _on_wait.reset(token)


def wait_callback() -> WaitCallback | None:
    return _on_wait.get()


def available(seconds: float) -> float:
    """The seconds that a request may take, at most the given number."""
    allowance = _allowance.get()
    return min(seconds, allowance.available()) if allowance else seconds


def spend(seconds: float) -> None:
    if allowance := _allowance.get():
        allowance.spend(seconds)
