"""Connections to the database that are still good, told without asking the server."""

import select
import time
from typing import Any

from django.db import connections


def close_stale_connections() -> None:
    """As Django's `close_old_connections`, which has each connection asked again before its next use.

    A worker would so ask PostgreSQL once for every message. A connection that the server has closed shows
    it: there is something to read where nothing was asked.
    """
    for connection in connections.all(initialized_only=True):
        if not surely_good(connection):
            connection.close_if_unusable_or_obsolete()


def surely_good(connection: Any) -> bool:
    """Whether a connection to PostgreSQL is at rest, young enough, without an error, and its line silent."""
    if connection.vendor != "postgresql" or connection.connection is None or connection.connection.closed:
        return False
    if connection.in_atomic_block or connection.errors_occurred or not connection.get_autocommit():
        return False
    if connection.close_at is not None and time.monotonic() >= connection.close_at:
        return False
    line = select.poll()
    line.register(connection.connection.fileno(), select.POLLIN)
    return not line.poll(0)
