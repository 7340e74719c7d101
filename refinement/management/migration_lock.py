"""One process at a time migrates: two that start together on an empty database would both make its tables."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connections

LOCK_KEY = 0x57494747554D  # "WIGGUM": an advisory lock is known by a number, in each database apart


@contextmanager
def migration_lock(database: str) -> Iterator[None]:
    """Holds the lock for the block; it is released as well when the process or its connection ends."""
    connection = connections[database]
    if connection.vendor != "postgresql":
        with (settings.DATA_DIR / "migrate.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK_KEY])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK_KEY])
