"""Tells a full disk from other errors; no Django."""

import errno
import sqlite3
from collections.abc import Iterator

POSTGRESQL_DISK_FULL = "53100"
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the disk, a quota, a limit on the size of files


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error, or one that led to it, says that there is no space left."""
    return any(_says_disk_full(one) for one in _chain(error))


def _says_disk_full(error: BaseException) -> bool:
    if isinstance(error, sqlite3.Error):
        # The low byte is the kind of error, the rest narrows it down.
        return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
    if isinstance(error, OSError):
        return error.errno in NO_SPACE
    return getattr(error, "sqlstate", None) == POSTGRESQL_DISK_FULL  # psycopg


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
