"""A SQLite backend in which the writers of one process queue for a lock.

With SQLite's own lock, a blocked writer sleeps and retries up to a tenth of a second later. With dozens of
threads, that was most of their time, although each holds the lock for a millisecond. Here the writers of a
process wait for a thread lock, which wakes the next one at once. SQLite's lock still protects the database,
between processes and if the thread lock times out.
"""

import os
import threading
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, TypeAlias

from django.db.backends.sqlite3 import base

PATIENCE_SECONDS = 5.0
READS = ("SELECT", "PRAGMA", "EXPLAIN", "BEGIN", "SAVEPOINT", "RELEASE", "ROLLBACK")
WriteLock: TypeAlias = "threading.RLock"  # it has an owner
_locks: dict[str, WriteLock] = {}
_locks_guard = threading.Lock()


def write_lock_for(database: str) -> WriteLock:
    """This process's write lock for the database file."""
    with _locks_guard:
        return _locks.setdefault(database, threading.RLock())


def discard_write_lock(database: str, lock: WriteLock) -> None:
    """Discard a lock that is held for too long, so that others no longer wait for it."""
    with _locks_guard:
        if _locks.get(database) is lock:
            del _locks[database]


def _reset_locks() -> None:
    """After a fork, a lock held by another thread would never be released."""
    global _locks_guard
    _locks.clear()
    _locks_guard = threading.Lock()


os.register_at_fork(after_in_child=_reset_locks)


class Cursor(base.SQLiteCursorWrapper):
    """A cursor whose writes outside a transaction take the write lock."""

    def __init__(self, connection: Any, database: "DatabaseWrapper") -> None:
        super().__init__(connection)
        self._database = database

    def execute(self, query: str, params: Any = None) -> Any:
        if query.lstrip()[:9].upper().startswith(READS):
            return super().execute(query, params)
        with self._database.write_lock():
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        with self._database.write_lock():
            return super().executemany(query, param_list)


class HeldLock:
    """Holds the write lock for one write outside a transaction."""

    __slots__ = ("_database",)

    def __init__(self, database: "DatabaseWrapper") -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.acquire_write_lock()

    def __exit__(self, *_: object) -> None:
        self._database.release_write_lock()


class DatabaseWrapper(base.DatabaseWrapper):
    """A transaction holds the write lock from start to end, as it does SQLite's lock."""

    _write_lock: "WriteLock | None" = None  # while this connection holds it

    def write_lock(self) -> AbstractContextManager[None]:
        """The write lock for one write. Does nothing in a transaction, which already holds it."""
        return nullcontext() if self._write_lock is not None else HeldLock(self)

    def acquire_write_lock(self) -> None:
        if self._write_lock is not None:
            return
        database = str(self.settings_dict["NAME"])
        lock = write_lock_for(database)
        try:
            taken = lock.acquire(timeout=PATIENCE_SECONDS)
        except BaseException:
            # A stopping worker may interrupt the thread just after it got the lock.
            with suppress(RuntimeError):  # it did not have it
                lock.release()
            raise
        if taken:
            self._write_lock = lock
        else:
            discard_write_lock(database, lock)

    def release_write_lock(self) -> None:
        lock, self._write_lock = self._write_lock, None
        if lock is None:
            return
        try:
            lock.release()
        except RuntimeError:  # closed by a thread that did not take it
            discard_write_lock(str(self.settings_dict["NAME"]), lock)

    def set_autocommit(
        self, autocommit: bool, force_begin_transaction_with_broken_autocommit: bool = False
    ) -> None:
        force = force_begin_transaction_with_broken_autocommit
        begins = force and not autocommit and not self.in_atomic_block
        if begins:
            self.acquire_write_lock()
        try:
            super().set_autocommit(autocommit, force)
        except BaseException:
            if begins:
                self._undo_begin()
            raise

    def _undo_begin(self) -> None:
        """A stopping worker may interrupt the thread just after BEGIN, which Django then does not know of."""
        try:
            if self.connection is not None and self.connection.in_transaction:
                self.connection.rollback()
        finally:
            self.release_write_lock()

    def _release_unless_open(self) -> None:
        """Release the lock unless a failed commit has left the transaction open."""
        if self.connection is None or not self.connection.in_transaction:
            self.release_write_lock()

    def commit(self) -> None:
        try:
            super().commit()
        finally:
            self._release_unless_open()

    def rollback(self) -> None:
        try:
            super().rollback()
        finally:
            self._release_unless_open()

    def close(self) -> None:
        self.validate_thread_sharing()
        try:
            super().close()
        finally:
            if not self.is_in_memory_db():  # Django does not close those
                self.release_write_lock()

    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=lambda connection: Cursor(connection, self))
