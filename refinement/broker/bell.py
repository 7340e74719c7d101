"""How a message that has just been sent wakes the consumers of the same process."""

from collections.abc import Callable
from threading import Condition


def never() -> bool:
    return False


class Bell:
    """Rings are counted, so that one between looking and waiting is not missed."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._rings = 0

    def ring(self) -> None:
        with self._condition:
            self._rings += 1
            self._condition.notify_all()

    def nudge(self) -> None:
        """Has whoever waits look whether they still should, without there being anything new to find."""
        with self._condition:
            self._condition.notify_all()

    def rings(self) -> int:
        """How often it has rung: read this before looking for work, and pass it to `wait`."""
        with self._condition:
            return self._rings

    def wait(self, heard: int, seconds: float, unless: Callable[[], bool] = never) -> bool:
        """True at the first ring after `heard`, or as soon as `unless` holds; False when the time is up."""
        with self._condition:
            return self._condition.wait_for(lambda: self._rings != heard or unless(), timeout=max(seconds, 0))
