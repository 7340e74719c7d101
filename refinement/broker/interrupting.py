"""Which threads a stopping worker may interrupt: those at work, until their result is being recorded.

An interrupt can occur between any two Python instructions. One that occurs just after a lock was acquired,
such as the log's, would leave it locked forever. So threads that record a finished step are not interrupted.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, get_ident

from dramatiq.middleware import Shutdown

_lock = Lock()
_stopping = Event()
_at_work: set[int] = set()


def work_begins() -> bool:
    """Allow interrupts of this thread. Return False if the worker is stopping: then do not start."""
    with _lock:
        if _stopping.is_set():
            return False
        _at_work.add(get_ident())
        return True


def work_is_done() -> None:
    """Disallow interrupts of this thread. A pending interrupt is raised within this call."""
    with _lock:
        _at_work.discard(get_ident())


@contextmanager
def uninterrupted() -> Iterator[None]:
    """No interrupts inside the block. Raises Shutdown at its end if the worker is stopping."""
    was_at_work = get_ident() in _at_work  # False outside of a worker
    work_is_done()
    yield
    if was_at_work and not work_begins():
        raise Shutdown("The worker is stopping.")


def is_stopping() -> bool:
    """Whether this process's worker is stopping."""
    return _stopping.is_set()


def worker_starts() -> None:
    """Allow work to start."""
    _stopping.clear()


def interrupt_all(interrupt: Callable[[int], None]) -> None:
    """Stop the worker: interrupt every thread at work.

    A thread that waits for a model notices when its call is cancelled, as every call is from now on. So
    `is_stopping` becomes true only after all of them have their interrupt.
    """
    with _lock:
        for thread_id in _at_work:
            interrupt(thread_id)
        _stopping.set()
