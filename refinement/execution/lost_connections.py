"""A database that is away for a moment: what a model has written is worth more than a connection.

A worker's threads keep connections that may have been lost long ago, and a step that goes on from the one
before asks nothing of the database before it has its reply. So whoever writes a reply down tries again, on a
connection made anew, for as long as a lease lasts. Every such write is fenced: had it been made before the
connection broke off, the second try finds the lease gone and changes nothing.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection

from refinement.execution.leases import LEASE

CONNECTION_LOST = (OperationalError, InterfaceError)
OUTLAST_SECONDS = LEASE.total_seconds()  # then another worker may be at the run
FIRST_DELAY, LONGEST_DELAY = 0.05, 1.0

Given = ParamSpec("Given")
Made = TypeVar("Made")


def outlasting_lost_connections(write: Callable[Given, Made]) -> Callable[Given, Made]:
    """Does it again while the connection is lost; inside of somebody's transaction the loss is theirs."""

    @wraps(write)
    def outlasting(*args: Given.args, **more: Given.kwargs) -> Made:
        until, delay = time.monotonic() + OUTLAST_SECONDS, FIRST_DELAY
        while True:
            try:
                return write(*args, **more)
            except CONNECTION_LOST:
                if connection.in_atomic_block or time.monotonic() + delay > until:
                    raise
                connection.close()
            time.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY)

    return outlasting


@contextmanager
def replacing_lost_connection() -> Iterator[None]:
    """Lets a database that is away for a moment pass: what stands inside is not done, or done again later."""
    try:
        yield
    except CONNECTION_LOST:
        connection.close()
