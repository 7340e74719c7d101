"""Detects errors caused by a full disk, without Django."""

import errno
import sqlite3
from collections.abc import Iterator

POSTGRESQL_DISK_FULL = "53100"
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # full disk, quota, file size limit


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error or one of its causes means that the disk is full."""
    return any(_says_disk_full(one) for one in _chain(error))


def _says_disk_full(error: BaseException) -> bool:
    if isinstance(error, sqlite3.Error):
        # The low byte is the primary error code.
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
