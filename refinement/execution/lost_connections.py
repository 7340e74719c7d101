"""Retries database writes after a lost connection, so that a model's reply is not lost with it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection

from refinement.execution.leases import LEASE

CONNECTION_LOST = (OperationalError, InterfaceError)
RETRY_FOR_SECONDS = LEASE.total_seconds()  # after that, another worker may have taken the run
FIRST_DELAY, LONGEST_DELAY = 0.05, 1.0

P = ParamSpec("P")
T = TypeVar("T")


def retry_lost_connection(write: Callable[P, T]) -> Callable[P, T]:
    """Decorator: retries `write` on a new connection while the database connection is lost.

    A worker thread's connection may have been lost during a long model call. Retries last as long as a
    lease; then OperationalError or InterfaceError is raised. Inside a transaction there is no retry: the
    caller has to repeat the whole transaction.

    Only for writes that are fenced by a lease. If the first try was committed before the connection was
    lost, the second one finds the lease gone, raises LeaseLost and changes nothing.
    """

    @wraps(write)
    def retrying(*args: P.args, **kwargs: P.kwargs) -> T:
        until, delay = time.monotonic() + RETRY_FOR_SECONDS, FIRST_DELAY
        while True:
            try:
                return write(*args, **kwargs)
            except CONNECTION_LOST:
                if connection.in_atomic_block or time.monotonic() + delay > until:
                    raise
                connection.close()
            time.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY)

    return retrying


@contextmanager
def ignore_lost_connection() -> Iterator[None]:
    """Ignores a lost connection inside the block; the next query opens a new one.

    For writes that may fail: they are optional, or repeated later.
    """
    try:
        yield
    except CONNECTION_LOST:
        connection.close()
