"""Writes that stand or fall together: one statement on PostgreSQL, one short transaction elsewhere.

What a step brings is five rows in four tables. One by one, PostgreSQL is asked seven times for them, and
with dozens of threads each answer is waited for and each wait hands Python's lock around.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Model

from refinement.models.statements import (
    Column,
    Values,
    adapted,
    carried_out,
    fetched,
    insert_parts,
    insert_values,
    new_values,
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
    unless: str = ""  # an insert's: where this query finds anything, it is left out


class Writes:
    """Gathers writes of one moment. The leading update finds its row, or nothing is written."""

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        self._using = using
        self._connection: Any = connections[using]
        self._lead: Write | None = None
        self._others: list[Write] = []
        self.left_out = False  # whether the one insert that has an `unless` was

    def lead(self, model: type[Model], values: Values, where: str, where_values: Sequence[Any]) -> None:
        """Changes the one row where the condition holds, before all the others."""
        self._lead = self._update(model, values, where, where_values)

    def update(self, model: type[Model], values: Values, where: str, where_values: Sequence[Any]) -> None:
        """Changes the one row where the condition holds; there must be one."""
        self._others.append(self._update(model, values, where, where_values))

    def _update(self, model: type[Model], values: Values, where: str, where_values: Sequence[Any]) -> Write:
        columns, changes = update_parts(model, tuple(values))
        sent = [*update_values(columns, values, self._connection), *adapted(where_values, self._using)]
        return Write(changes, where, sent, inserts=False)

    def insert(self, row: Model, **found: Found) -> None:
        """Adds a row, whose key stays unknown; `found` are columns that the database fills in."""
        columns, head = insert_parts(type(row))
        self._insert(head, columns, insert_values(columns, row, self._connection), found)

    def add(self, model: type[Model], values: Values, *, unless: Found | None = None, **found: Found) -> None:
        """The same for values by their columns' names; left out where `unless` finds anything."""
        columns, head = insert_parts(model)
        self._insert(head, columns, new_values(columns, values, self._connection), found, unless)

    def _insert(
        self,
        head: str,
        columns: Sequence[Column],
        values: list[Any],
        found: Mapping[str, Found],
        unless: Found | None = None,
    ) -> None:
        places, sent = ["%s"] * len(columns), values
        if found:
            places, sent = [], []
            for column, value in zip(columns, values, strict=True):
                source = found.get(column[0])
                places.append(f"({source.sql})" if source else "%s")
                sent += source.values if source else [value]
        if unless is not None:
            sent = [*sent, *unless.values]
        self._others.append(Write(head, ", ".join(places), sent, True, unless.sql if unless else ""))

    def make(
        self, beside: Callable[[], None] | None = None, *, first: Callable[[], None] | None = None
    ) -> bool:
        """All of it and, in the same transaction, what `first` does before it and `beside` after it.

        False when the leading update found no row: then nothing is written, by `first` neither.
        """
        alone = first is None and beside is None and not self._connection.in_atomic_block
        if alone and self._connection.vendor == "postgresql" and not watched(self._connection):
            return self._at_once()
        with transaction.atomic(using=self._using):
            if first is not None:
                first()
            if not self._made(self._leading):
                transaction.set_rollback(True, using=self._using)
                return False
            for write in self._others:
                if self._made(write):
                    continue
                if not write.unless:
                    raise NothingChanged(write.head)
                self.left_out = True
            if beside is not None:
                beside()
        return True

    @property
    def _leading(self) -> Write:
        assert self._lead is not None, "nothing says whether any of it may be written"
        return self._lead

    def _at_once(self) -> bool:
        writes = [self._leading, *self._others]
        sql = one_statement(tuple((write.head, write.tail, write.inserts, write.unless) for write in writes))
        made = fetched(self._connection, sql, [value for write in writes for value in write.values])
        self.left_out = any(0 in row for row in made)
        return bool(made)

    def _made(self, write: Write) -> bool:
        sql = statement(write.head, write.tail, write.inserts, write.unless)
        return bool(carried_out(self._connection, sql, write.values))


@lru_cache(maxsize=256)
def statement(head: str, tail: str, inserts: bool, unless: str = "") -> str:
    if unless:
        return f"{head} SELECT {tail} WHERE NOT EXISTS ({unless})"
    return f"{head} VALUES ({tail})" if inserts else f"{head} WHERE {tail}"


@lru_cache(maxsize=256)
def one_statement(writes: tuple[tuple[str, str, bool, str], ...]) -> str:
    """All in one; a later update that finds no row divides by zero, which undoes everything.

    Each is counted, one after the other: PostgreSQL makes what nobody asks about in an order of its own.
    """
    (head, tail, *_), *others = writes
    parts, checks = [f'held ("held") AS ({head} WHERE {tail} RETURNING "id")'], ["1"]
    for number, (head, tail, inserts, unless) in enumerate(others):
        count = f"(SELECT COUNT(*) FROM w{number})"  # noqa: S608
        if inserts:
            part = f"{head} SELECT {tail} FROM held"  # noqa: S608
            part += f" WHERE NOT EXISTS ({unless})" if unless else ""
        else:
            part, count = f"{head} FROM held WHERE {tail}", f"1 / {count}"
        parts.append(f'w{number} AS ({part} RETURNING "id")')
        checks.append(count)
    return f"WITH {', '.join(parts)} SELECT {', '.join(checks)} FROM held"  # noqa: S608
