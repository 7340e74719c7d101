"""Threads that have sent a run's next message and are about to be free: their process may take one more each.

A step sends on before its own message is acknowledged. A consumer that counted it as busy until then would
leave the new message lying about, and another process, which knows nothing of the run, would take it.
"""

from threading import get_ident

from dramatiq.middleware import CurrentMessage


class Finishing:
    """Counts them; a set's own operations are safe to use from many threads."""

    def __init__(self) -> None:
        self._threads: set[int] = set()

    def sent(self) -> None:
        """This thread has sent a message; it counts if it is at work on one itself."""
        if CurrentMessage.get_current_message() is not None:
            self._threads.add(get_ident())

    def done(self) -> None:
        """This thread's own message is acknowledged, or was refused."""
        self._threads.discard(get_ident())

    def count(self) -> int:
        return len(self._threads)
