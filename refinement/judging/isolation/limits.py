"""What ends a request early, and the time that several requests share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

SECONDS = 1.0  # of processor time, for one request, or for all that somebody waits for
MEMORY_BYTES = 64 * 1024 * 1024  # for one request, on top of an idle child's 30 MB

Look: TypeAlias = Callable[[], None]


class Limit(StrEnum):
    """Why a request has no complete answer."""

    TIME = "time"
    SPENT = "spent"  # other requests used up the time that they share with this one
    MEMORY = "memory"
    CRASH = "crash"
    BUSY = "busy"


@dataclass(slots=True)
class Allowance:
    """Seconds that are left for all requests of a block; those of the block around it count as well."""

    left: float
    outer: "Allowance | None"

    def available(self) -> float:
        return min(self.left, self.outer.available()) if self.outer else self.left

    def spend(self, seconds: float) -> None:
        self.left -= seconds
        if self.outer:
            self.outer.spend(seconds)


_allowance: ContextVar[Allowance | None] = ContextVar("allowance", default=None)
_look: ContextVar[Look | None] = ContextVar("look", default=None)


@contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """All requests inside the block share these seconds; waiting for a free child is not counted."""
    token = _allowance.set(Allowance(seconds, _allowance.get()))
    try:
        yield
    finally:
        _allowance.reset(token)


@contextmanager
def while_waiting(look: Look) -> Iterator[None]:
    """Calls `look` a few times a second while a request inside the block takes long.

    It keeps a lease alive, and may raise to give the request up. With it, a request waits for a free child
    as long as it takes; without it, it fails as busy after a few seconds.
    """
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)


def current_look() -> Look | None:
    return _look.get()


def available(seconds: float) -> float:
    """How long a request may take that would get these seconds if it were alone."""
    allowance = _allowance.get()
    return min(seconds, allowance.available()) if allowance else seconds


def spend(seconds: float) -> None:
    if allowance := _allowance.get():
        allowance.spend(seconds)
