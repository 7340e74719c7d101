"""How a call that waits for its server is stopped by another thread."""

import socket
from contextlib import suppress
from threading import Lock

RING_SECONDS = 0.5


class Alarm:
    """Rung when a call is to stop: the line that it waits on is cut, and whoever waits looks why.

    One for each call. The line of a call that is to stop would be closed in any case; without an alarm, every
    thread that waits has to wake a few times a second to ask whether it still should.
    """

    def __init__(self) -> None:
        self.rung = False
        self._line: socket.socket | None = None
        self._lock = Lock()  # while it is held, the line is this call's and not yet another's

    def ring(self) -> None:
        self.rung = True
        # Not for ever: a thread that was interrupted as it took the lock has left it taken.
        if not self._lock.acquire(timeout=RING_SECONDS):
            return
        try:
            if self._line is not None:
                cut(self._line)
        finally:
            self._lock.release()

    def wait_on(self, line: socket.socket | None) -> None:
        """From now on a ring cuts this line; None while the call waits on none. Then see if it has rung."""
        with self._lock:
            self._line = line


def cut(line: socket.socket) -> None:
    """Ends all waiting on it. As a plain socket: TLS would forget its keys under the reader's hands."""
    with suppress(OSError):
        socket.socket.shutdown(line, socket.SHUT_RDWR)
