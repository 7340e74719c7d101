"""Which threads a worker that stops may interrupt: those at work, until what they do is done.

An interrupt comes between any two of Python's instructions. One that comes just after a lock was taken, such
as that of the log, leaves it taken for ever: who tells of a step that is done must be left alone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, get_ident

_lock = Lock()
_at_work: set[int] = set()
_wakers: dict[int, Callable[[], None]] = {}


def work_begins() -> None:
    """From now on, this thread may be interrupted."""
    with _lock:
        _at_work.add(get_ident())


def work_is_done() -> None:
    """From now on it is not; an interrupt that was on its way comes within this call."""
    with _lock:
        _at_work.discard(get_ident())


@contextmanager
def woken_by(wake: Callable[[], None] | None) -> Iterator[None]:
    """This thread may wait for longer than an interrupt should; `wake`, if it is needed, ends that wait."""
    if wake is not None:
        _wakers[get_ident()] = wake
    try:
        yield
    finally:
        _wakers.pop(get_ident(), None)


def interrupt_all(interrupt: Callable[[int], None]) -> None:
    """Interrupts every thread that is at work; then wakes it, to find that it is."""
    with _lock:
        for thread_id in _at_work:
            interrupt(thread_id)
            if wake := _wakers.get(thread_id):
                wake()
