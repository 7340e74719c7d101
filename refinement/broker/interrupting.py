"""Which threads a worker that stops may interrupt: those at work, until what they do is recorded.

An interrupt comes between any two of Python's instructions. One that comes just after a lock was taken, such
as that of the log, leaves it taken for ever: a thread that accounts for a finished step is left alone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, get_ident

from dramatiq.middleware import Shutdown

_lock = Lock()
_stopping = Event()
_at_work: set[int] = set()


def work_begins() -> bool:
    """From now on this thread may be interrupted; False if the worker stops, then it must not begin."""
    with _lock:
        if _stopping.is_set():
            return False
        _at_work.add(get_ident())
        return True


def work_is_done() -> None:
    """From now on it is not interrupted; an interrupt that was on its way comes within this call."""
    with _lock:
        _at_work.discard(get_ident())


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Work inside is not interrupted; raises Shutdown at its end if the worker was told to stop meanwhile."""
    was_at_work = get_ident() in _at_work  # False outside of a worker
    work_is_done()
    yield
    if was_at_work and not work_begins():
        raise Shutdown("The worker was told to stop.")


def is_stopping() -> bool:
    """Whether this process's worker was told to stop."""
    return _stopping.is_set()


def worker_starts() -> None:
    """Work may begin."""
    _stopping.clear()


def interrupt_all(interrupt: Callable[[int], None]) -> None:
    """The worker stops: interrupts every thread that is at work.

    A thread that waits for a model notices when its call is cancelled, as every call is from then on. So
    `is_stopping` is true only after all of them have their interrupt.
    """
    with _lock:
        for thread_id in _at_work:
            interrupt(thread_id)
        _stopping.set()
