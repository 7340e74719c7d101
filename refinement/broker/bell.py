"""How a message that has just been sent wakes the consumers of the same process."""

from threading import Condition


class Bell:
    """Rings are counted, so that one between looking and waiting is not missed."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._rings = 0

    def ring(self) -> None:
        with self._condition:
            self._rings += 1
            self._condition.notify_all()

    def rings(self) -> int:
        """How often it has rung: read this before looking for work, and pass it to `wait`."""
        with self._condition:
            return self._rings

    def wait(self, heard: int, seconds: float) -> bool:
        """True at the first ring after `heard`; False when the time is up."""
        with self._condition:
            return self._condition.wait_for(lambda: self._rings != heard, timeout=max(seconds, 0))
