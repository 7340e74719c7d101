"""Writes that stand or fall together: one statement on PostgreSQL, one short transaction elsewhere.

What a step brings is five rows in four tables. One by one, PostgreSQL is asked seven times for them, and
with dozens of threads each answer is waited for and each wait hands Python's lock around.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Model

from refinement.models.statements import (
    Values,
    adapted,
    carried_out,
    fetched,
    insert_parts,
    insert_values,
    update_parts,
    update_values,
    watched,
)


class NothingChanged(Exception):
    """An update that goes with others found no row; none of them was made."""


@dataclass(frozen=True, slots=True)
class Found:
    """A value that the database finds for itself, by a query for one column of one row."""

    sql: str
    values: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Write:
    """Up to its values or its condition, and the rest."""

    head: str
    tail: str
    values: list[Any]
    inserts: bool


class Writes:
    """Gathers writes of one moment. The first is an update; where it finds no row, nothing is written."""

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        self._using = using
        self._connection: Any = connections[using]
        self._writes: list[Write] = []

    def update(self, model: type[Model], values: Values, where: str, where_values: Sequence[Any]) -> None:
        """Changes the one row where the condition holds."""
        columns, changes = update_parts(model, tuple(values))
        sent = [*update_values(columns, values, self._connection), *adapted(where_values, self._using)]
        self._writes.append(Write(changes, where, sent, inserts=False))

    def insert(self, row: Model, **found: Found) -> None:
        """Adds a row, whose key stays unknown; `found` are columns that the database fills in."""
        columns, head = insert_parts(type(row))
        places: list[str] = []
        values: list[Any] = []
        for column, value in zip(columns, insert_values(columns, row, self._connection), strict=True):
            source = found.get(column[0])
            places.append(f"({source.sql})" if source else "%s")
            values += source.values if source else [value]
        self._writes.append(Write(head, ", ".join(places), values, inserts=True))

    def make(self, beside: Callable[[], None] | None = None) -> bool:
        """All of it and, in the same transaction, what `beside` does; False when the first found no row."""
        alone = beside is None and not self._connection.in_atomic_block and not watched(self._connection)
        if alone and self._connection.vendor == "postgresql":
            return self._at_once()
        with transaction.atomic(using=self._using):
            if not self._made(self._writes[0]):
                return False
            for write in self._writes[1:]:
                if not self._made(write):
                    raise NothingChanged(write.head)
            if beside is not None:
                beside()
        return True

    def _at_once(self) -> bool:
        sql = one_statement(tuple((write.head, write.tail, write.inserts) for write in self._writes))
        return bool(
            fetched(self._connection, sql, [value for write in self._writes for value in write.values])
        )

    def _made(self, write: Write) -> bool:
        sql = statement(write.head, write.tail, write.inserts)
        return bool(carried_out(self._connection, sql, write.values))


@lru_cache(maxsize=256)
def statement(head: str, tail: str, inserts: bool) -> str:
    return f"{head} VALUES ({tail})" if inserts else f"{head} WHERE {tail}"


@lru_cache(maxsize=256)
def one_statement(writes: tuple[tuple[str, str, bool], ...]) -> str:
    """All in one; a later update that finds no row divides by zero, which undoes everything."""
    (head, tail, _), *others = writes
    parts, checks = [f'held ("held") AS ({head} WHERE {tail} RETURNING "id")'], ["1"]
    for number, (head, tail, inserts) in enumerate(others):
        if inserts:
            parts.append(f"w{number} AS ({head} SELECT {tail} FROM held)")  # noqa: S608
        else:
            parts.append(f'w{number} AS ({head} FROM held WHERE {tail} RETURNING "id")')
            checks.append(f"1 / (SELECT COUNT(*) FROM w{number})")  # noqa: S608
    return f"WITH {', '.join(parts)} SELECT {', '.join(checks)} FROM held"  # noqa: S608
