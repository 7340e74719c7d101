"""Wakes the consumers of this process when a message is sent."""

from threading import Condition


class Wakeups:
    """A counter of wake-ups, so that one between a query and a wait is not missed."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._count = 0

    def notify(self) -> None:
        with self._condition:
            self._count += 1
            self._condition.notify_all()

    def count(self) -> int:
        """The number of wake-ups so far. Read it before a query, and pass it to `wait`."""
        with self._condition:
            return self._count

    def wait(self, seen: int, seconds: float) -> bool:
        """Wait for a wake-up after `seen`. Return False on timeout."""
        with self._condition:
            return self._condition.wait_for(lambda: self._count != seen, timeout=max(seconds, 0))
