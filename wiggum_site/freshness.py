"""Connections to the database that are still good, told without asking the server."""

import select
import time
from typing import Any

from django.db import connections


def close_stale_connections(*, listen: bool = True) -> None:
    """As Django's `close_old_connections`, which has each connection asked again before its next use.

    A worker would so ask PostgreSQL once for every message. A connection that the server has closed shows
    it: there is something to read where nothing was asked. Who does not use it now need not `listen` for it.
    """
    for connection in connections.all(initialized_only=True):
        if not (at_rest(connection) and (not listen or silent(connection))):
            connection.close_if_unusable_or_obsolete()


def at_rest(connection: Any) -> bool:
    """Whether it is a connection to PostgreSQL without an error or a transaction, and young enough."""
    if connection.vendor != "postgresql" or connection.connection is None or connection.connection.closed:
        return False
    if connection.in_atomic_block or connection.errors_occurred or not connection.get_autocommit():
        return False
    return connection.close_at is None or time.monotonic() < connection.close_at


def silent(connection: Any) -> bool:
    """Whether the server has said nothing, such as goodbye."""
    line = select.poll()
    line.register(connection.connection.fileno(), select.POLLIN)
    return not line.poll(0)
