"""SQLite with one writer at a time, and the others of this process waiting in line for it.

A writer that finds the database locked sleeps and tries again, up to a tenth of a second later: with
dozens of threads that was most of their time, while each held the lock for a millisecond. Here a
process's writers wait for a lock of their own, which wakes the next one at once; SQLite's lock is left
to settle what processes want of each other. It stays the judge: a turn that does not come in time is
not waited for.
"""

import os
import threading
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, TypeAlias

from django.db.backends.sqlite3 import base

PATIENCE_SECONDS = 5.0
READS = ("SELECT", "PRAGMA", "EXPLAIN", "BEGIN", "SAVEPOINT", "RELEASE", "ROLLBACK")
Turn: TypeAlias = "threading.RLock"  # which knows whose it is
_turns: dict[str, Turn] = {}
_making = threading.Lock()


def turn_for(database: str) -> Turn:
    """The lock of this process for the database in this file."""
    with _making:
        return _turns.setdefault(database, threading.RLock())


def forget_turn(database: str, turn: Turn) -> None:
    """Whoever has it keeps it too long: nobody else waits for this one."""
    with _making:
        if _turns.get(database) is turn:
            del _turns[database]


def _forget_turns() -> None:
    """A lock held by another thread while the process forked would never open again."""
    global _making
    _turns.clear()
    _making = threading.Lock()


os.register_at_fork(after_in_child=_forget_turns)


class Cursor(base.SQLiteCursorWrapper):
    """A cursor whose writes outside a transaction wait for their turn."""

    def __init__(self, connection: Any, database: "DatabaseWrapper") -> None:
        super().__init__(connection)
        self._database = database

    def execute(self, query: str, params: Any = None) -> Any:
        if query.lstrip()[:9].upper().startswith(READS):
            return super().execute(query, params)
        with self._database.turn():
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        with self._database.turn():
            return super().executemany(query, param_list)


class OneTurn:
    """A turn for one write outside a transaction."""

    __slots__ = ("_database",)

    def __init__(self, database: "DatabaseWrapper") -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.take_turn()

    def __exit__(self, *_: object) -> None:
        self._database.give_turn()


class DatabaseWrapper(base.DatabaseWrapper):
    """A transaction has its turn from its beginning to its end: it takes SQLite's lock at its beginning."""

    _turn: "Turn | None" = None  # while this connection has it

    def turn(self) -> AbstractContextManager[None]:
        """For one write; within a transaction, which has its turn already, it changes nothing."""
        return nullcontext() if self._turn is not None else OneTurn(self)

    def take_turn(self) -> None:
        if self._turn is not None:
            return
        database = str(self.settings_dict["NAME"])
        turn = turn_for(database)
        try:
            taken = turn.acquire(timeout=PATIENCE_SECONDS)
        except BaseException:
            # A worker that stops interrupts its threads, perhaps just when the turn was theirs.
            with suppress(RuntimeError):  # it was not
                turn.release()
            raise
        if taken:
            self._turn = turn
        else:
            forget_turn(database, turn)

    def give_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is None:
            return
        try:
            turn.release()
        except RuntimeError:  # closed by a thread that did not take it
            forget_turn(str(self.settings_dict["NAME"]), turn)

    def set_autocommit(
        self, autocommit: bool, force_begin_transaction_with_broken_autocommit: bool = False
    ) -> None:
        force = force_begin_transaction_with_broken_autocommit
        begins = force and not autocommit and not self.in_atomic_block
        if begins:
            self.take_turn()
        try:
            super().set_autocommit(autocommit, force)
        except BaseException:
            if begins:
                self.give_turn()
            raise

    def _give_turn_unless_open(self) -> None:
        """A commit that failed leaves its transaction open, until it is rolled back."""
        if self.connection is None or not self.connection.in_transaction:
            self.give_turn()

    def commit(self) -> None:
        try:
            super().commit()
        finally:
            self._give_turn_unless_open()

    def rollback(self) -> None:
        try:
            super().rollback()
        finally:
            self._give_turn_unless_open()

    def close(self) -> None:
        self.validate_thread_sharing()
        try:
            super().close()
        finally:
            if not self.is_in_memory_db():  # which Django does not close
                self.give_turn()

    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=lambda connection: Cursor(connection, self))
