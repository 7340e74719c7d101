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
_wakers: dict[int, Callable[[], None]] = {}


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


@contextmanager
def woken_by(wake: Callable[[], None] | None) -> Iterator[None]:
    """Call `wake` on an interrupt, to end a blocking wait of this thread inside the block."""
    if wake is not None:
        _wakers[get_ident()] = wake
    try:
        yield
    finally:
        _wakers.pop(get_ident(), None)


def is_stopping() -> bool:
    """Whether this process's worker is stopping."""
    return _stopping.is_set()


def worker_starts() -> None:
    """Allow work to start."""
    _stopping.clear()


def interrupt_all(interrupt: Callable[[int], None]) -> None:
    """Stop the worker: interrupt every thread at work, and wake it."""
    with _lock:
        _stopping.set()
        for thread_id in _at_work:
            interrupt(thread_id)
            if wake := _wakers.get(thread_id):
                wake()
