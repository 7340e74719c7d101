"""Checks database connections without a query."""

import select
import time
from typing import Any

from django.db import connections


def close_stale_connections(*, listen: bool = True) -> None:
    """Like Django's `close_old_connections`, without its health check query before the next use.

    That would be one query per message in a worker. A connection that the server has closed has data to read
    without a query. With `listen=False`, this is not checked, for connections that are not used next.
    """
    for connection in connections.all(initialized_only=True):
        if not (at_rest(connection) and (not listen or silent(connection))):
            connection.close_if_unusable_or_obsolete()


def at_rest(connection: Any) -> bool:
    """Whether it is a PostgreSQL connection without errors or a transaction, and not too old."""
    if connection.vendor != "postgresql" or connection.connection is None or connection.connection.closed:
        return False
    if connection.in_atomic_block or connection.errors_occurred or not connection.get_autocommit():
        return False
    return connection.close_at is None or time.monotonic() < connection.close_at


def silent(connection: Any) -> bool:
    """Whether the server has sent nothing, such as the end of the connection."""
    poll = select.poll()
    poll.register(connection.connection.fileno(), select.POLLIN)
    return not poll.poll(0)
