"""How a call is stopped: every place that waits looks in on the call's watch a few times a second."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from refinement.providers.base import CallControl, Cancelled, ErrorKind, ProviderError

SLICE_SECONDS = 0.4  # the longest that any wait goes on without looking whether it should
ALARMED_SECONDS = 2.0  # the same where an alarm tells


class Watch:
    """One call's right to go on: `check` raises once the caller cancelled or the deadline passed."""

    def __init__(self, control: CallControl, where: str) -> None:
        self._is_cancelled = control.is_cancelled
        self.alarm = control.alarm
        self._limit = control.deadline_seconds
        self._where = where
        self.started = time.monotonic()
        self._deadline = self.started + control.deadline_seconds
        self._next_look = self.started

    def check(self) -> None:
        """Raises Cancelled, or a timeout as ProviderError; looks afresh each time."""
        now = time.monotonic()
        self._next_look = now + SLICE_SECONDS
        if self._is_cancelled():
            raise Cancelled(f"The call to {self._where} was cancelled.")
        if now >= self._deadline:
            raise ProviderError(
                ErrorKind.TIMEOUT,
                f"{self._where} gave no complete reply within {self._limit:g} seconds. "
                "Try again, allow more time, or choose a smaller model.",
                retryable=True,
            )

    def check_sometimes(self) -> None:
        """The same at most once a slice: for a stream whose pieces come faster than that."""
        if time.monotonic() >= self._next_look:
            self.check()

    def patience(self) -> float:
        """How long a wait may last before the next check, in seconds."""
        return max(0.001, min(SLICE_SECONDS, self._deadline - time.monotonic()))

    def slice_seconds(self) -> float:
        """The same for a wait that the alarm can end."""
        near = self._deadline - time.monotonic() < ALARMED_SECONDS
        return SLICE_SECONDS if self.alarm is None or near else ALARMED_SECONDS

    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def pause(self, seconds: float) -> None:
        """Waits this long, unless the call is stopped before."""
        until = time.monotonic() + seconds
        nothing = threading.Event()
        while (left := until - time.monotonic()) > 0:
            self.check()
            nothing.wait(min(left, self.patience()))

    @contextmanager
    def holding(self, lock: threading.Lock) -> Iterator[None]:
        """Holds the lock; the wait for it can be stopped."""
        while not lock.acquire(timeout=self.patience()):
            self.check()
        try:
            yield
        finally:
            lock.release()


_here = threading.local()


def current() -> Watch | None:
    """The watch of the call that this thread is making, if it is making one."""
    watch: Watch | None = getattr(_here, "watch", None)
    return watch


@contextmanager
def watching(control: CallControl, where: str) -> Iterator[Watch]:
    """Puts this thread's network waits under the control; `where` names the endpoint in messages."""
    watch = Watch(control, where)
    outer = current()
    _here.watch = watch
    try:
        watch.check()
        yield watch
    finally:
        _here.watch = outer
