"""A lock for migrations, so that two processes that start together do not both create the tables."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connections

LOCK_KEY = 0x57494747554D  # "WIGGUM": the number of the advisory lock, which is local to a database


@contextmanager
def migration_lock(database: str) -> Iterator[None]:
    """Hold the lock during the block. It is also released when the process or its connection ends."""
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
