"""Queries whose text is made once: what the ORM reads, without building it anew for every page.

Most of what a small query costs is the ORM's work on its way to the same statement as before. `prepared`
lets it do that once for each shape of a query, with examples in the places of the numbers and texts, and
keeps the statement. Rows come out of the ORM's own hands: the same models, the same values, the same log
of queries. Rows that lead to the same related row share its instance.

What is prepared must depend on its arguments alone: no clock, and nothing of who asks that is not among them.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import QuerySet, prefetch_related_objects
from django.db.models.query import ModelIterable

from refinement.models.sharing_rows import models_of

P = ParamSpec("P")
Row = TypeVar("Row")
Place = tuple[int, int, Callable[[Any], Any]]  # in the values, among the arguments, and what fits it in
LARGEST = 2**31  # beyond it the ORM knows which columns cannot hold a number
FIRST, SECOND = 30_000, 31_000  # examples: every column can hold them
MOST_SHAPES = 128
MOST_IN_TUPLE = 100


class NotPrepared(Exception):
    """A query that is another one for other numbers: a mistake in what was to be prepared."""


def as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Statement:
    """A query as it was made with examples; `places` tell which argument goes where."""

    queryset: QuerySet[Any, Any]
    compiler: Any
    sql: str
    values: tuple[Any, ...]
    places: tuple[Place, ...]
    converters: Any

    def rows(self, given: Sequence[Any]) -> list[Any]:
        values = list(self.values)
        for place, argument, fit in self.places:
            values[place] = fit(given[argument])
        compiler = copy.copy(self.compiler)
        compiler.connection = connections[self.queryset.db]
        compiler.as_sql = lambda: (self.sql, tuple(values))
        compiler.get_converters = lambda _: self.converters
        queryset: Any = self.queryset
        iterable = queryset._iterable_class  # noqa: SLF001  what the ORM does itself
        if iterable is ModelIterable:
            rows = models_of(compiler, queryset.db)
        else:
            rows = list(iterable(Again(queryset, compiler)))
        if wanted := queryset._prefetch_related_lookups:  # noqa: SLF001
            prefetch_related_objects(rows, *wanted)
        return rows


class Again:
    """As much of a queryset as an iterable of rows asks for, with a statement that is there already."""

    def __init__(self, queryset: QuerySet[Any, Any], compiler: Any) -> None:
        whole: Any = queryset
        self.query, self.db, self.model = self, whole.db, whole.model
        self._fields: Any = whole._fields
        self._known_related_objects: dict[Any, Any] = {}
        self._compiler = compiler
        self._query = queryset.query

    def get_compiler(self, using: str) -> Any:
        return self._compiler

    def __getattr__(self, name: str) -> Any:
        return getattr(self._query, name)


class Prepared(Generic[P, Row]):
    """Called with the arguments of what builds the query, gives its rows."""

    def __init__(self, build: Callable[P, QuerySet[Any, Row]]) -> None:
        self.build = build
        self.statements: dict[tuple[Any, ...], Statement | None] = {}
        self.__doc__ = build.__doc__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[Row]:
        if kwargs or not all(map(takes_a_place, args)):
            return list(self.build(*args, **kwargs))
        shape = (connections[DEFAULT_DB_ALIAS].vendor, *map(shape_of, args))
        if shape not in self.statements:
            if len(self.statements) >= MOST_SHAPES:
                self.statements.clear()
            self.statements[shape] = self.prepare(args)
        statement = self.statements[shape]
        return [] if statement is None else statement.rows(flat(args))

    def prepare(self, args: Sequence[Any]) -> Statement | None:
        """The statement for arguments of this shape; None where no such query can find anything."""
        build: Callable[..., QuerySet[Any, Any]] = self.build
        one, other = ([example(value, start, n) for n, value in enumerate(args)] for start in (FIRST, SECOND))
        queryset = build(*one)
        compiler = queryset.query.get_compiler(using=queryset.db)
        try:
            sql, values = compiler.as_sql()
            sql_again, values_again = build(*other).query.get_compiler(using=queryset.db).as_sql()
        except EmptyResultSet:
            return None
        if sql != sql_again:
            raise NotPrepared(f"{build.__qualname__} is another query for other arguments.")
        places = tuple(places_in(values, values_again, flat(one), flat(other)))
        converters = compiler.get_converters([column[0] for column in compiler.select[: compiler.col_count]])
        return Statement(queryset, compiler, sql, tuple(values), places, converters)


def prepared(build: Callable[P, QuerySet[Any, Row]]) -> Prepared[P, Row]:
    """Makes of what builds a query one that gives its rows, and makes its statement once."""
    return Prepared(build)


def takes_a_place(value: Any) -> bool:
    """Whether it can be put into a statement as it is, or is part of the statement's shape."""
    if type(value) is tuple:
        return len(value) <= MOST_IN_TUPLE and all(
            type(entry) is int and abs(entry) < LARGEST for entry in value
        )
    return value is None or type(value) in (str, bool) or (type(value) is int and abs(value) < LARGEST)


def shape_of(value: Any) -> Any:
    if type(value) is tuple:
        return len(value)
    return value if value is None or type(value) is bool else type(value)


def example(value: Any, start: int, place: int) -> Any:
    """Something of the same shape that is in no other place."""
    number = start + 100 * place
    if type(value) is tuple:
        return tuple(range(number, number + len(value)))
    if type(value) is str:
        return f"example-{number}"
    return value if value is None or type(value) is bool else number


def flat(args: Sequence[Any]) -> list[Any]:
    """The arguments with those of tuples one by one."""
    return [entry for value in args for entry in (value if type(value) is tuple else (value,))]


def places_in(
    values: Sequence[Any], again: Sequence[Any], one: Sequence[Any], other: Sequence[Any]
) -> Iterator[Place]:
    """Where the statement's values differ, by which argument they do, and how it gets there."""
    for place, (value, value_again) in enumerate(zip(values, again, strict=True)):
        if value == value_again:
            continue
        for argument, pair in enumerate(zip(one, other, strict=True)):
            if (value, value_again) == pair:
                yield place, argument, as_it_is
                break
            if (value, value_again) == tuple(map(str, pair)):  # a number in JSON, as SQLite wants it
                yield place, argument, str
                break
            if (getattr(value, "obj", None), getattr(value_again, "obj", None)) == pair:  # as PostgreSQL does
                wrapper: Any = type(value)
                yield place, argument, partial(wrapper, dumps=value.dumps)
                break
        else:
            raise NotPrepared(f"No argument stands for {value!r} as it is.")
