"""Conditions on a project's runs, and runs that meet several of them.

Each condition has an index with its runs in some order. SQLite, which keeps no statistics, does not know
which of several names few runs, and would read through many for them. So each is asked for its first few.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import BooleanField, F, Func, Q, QuerySet
from django.db.models.lookups import Exact

from refinement.models import Run

# So few runs are looked up one by one; of more, enough are met soon on the way through a list's own order.
FEW = 1_000
# Through several indexes side by side, a stride leads past so many entries of each at most, or numbers.
SHARE = 4_000
# These go through several indexes side by side for what is in all, and no farther than they are asked to.
MERGING = ("sqlite",)


class AboveZero(Func):
    """`column > 0` as text: an index for a part of the rows is used only where the condition is the same."""

    template = "%(expressions)s > 0"
    output_field = BooleanField()


class Unindexed(Func):
    """The same value; SQLite must not choose an index for it."""

    template = "%(expressions)s"
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="(+%(expressions)s)", **context)


class Among(Func):
    """`id IN (1, 2, 3)` as text: a thousand parameters take longer than what is done with them."""

    output_field = BooleanField()

    def __init__(self, numbers: Iterable[int]) -> None:
        super().__init__(F("pk"))
        self.numbers = ", ".join(str(int(number)) for number in numbers)

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> Any:
        if not self.numbers:
            raise EmptyResultSet
        sql, values = compiler.compile(self.get_source_expressions()[0])
        return f"{sql} IN ({self.numbers})", values


@dataclass(frozen=True, slots=True)
class Part:
    """The runs of one condition, by the column that has their numbers; an index has them in this order."""

    rows: QuerySet[Any]
    column: str = "id"

    def numbers(self, *, rising: bool, beyond: int | None, up_to: int | None = None) -> QuerySet[Any, Any]:
        """Those after the one number and not after the other, as far as there are such."""
        near, far = ("gt", "lte") if rising else ("lt", "gte")
        ends = {f"{self.column}__{near}": beyond, f"{self.column}__{far}": up_to}
        rows = self.rows.filter(**{end: number for end, number in ends.items() if number is not None})
        return rows.values_list(self.column, flat=True)

    def nth(self, count: int, *, rising: bool, beyond: int | None) -> QuerySet[Any, Any]:
        """The number that comes after so many others."""
        numbers = self.numbers(rising=rising, beyond=beyond)
        return numbers.order_by(self.column if rising else f"-{self.column}")[count : count + 1]


@dataclass(frozen=True, slots=True)
class Condition:
    """What its index answers, and the same as it is asked of runs that were found in another way."""

    alone: Q
    beside: Q
    order: str = "id"  # the list's, in which the index has its runs
    index: tuple[str, ...] = ("-id",)  # the same as the index has it
    elsewhere: Part | None = None  # another table with its runs, and with those in the archive

    @property
    def number(self) -> str:
        """A run's number as the index has it."""
        return self.index[-1].removeprefix("-")


def column_is(name: str, value: Any) -> Condition:
    """A column has this value; it has an index of its own, and stands in those of all orders."""
    column: Any = Run._meta.get_field(name)
    seen = Unindexed(F(name), output_field=column)
    return Condition(Q(**{name: value}), Q(Exact(seen, value)))


@dataclass(frozen=True, slots=True)
class Way:
    """Through an order's index: the runs that it leads past, and what those that are looked for meet."""

    runs: QuerySet[Run]
    wanted: Q


@dataclass(frozen=True, slots=True)
class Matching:
    """Runs that meet all conditions; and for a list of them, how it is had fast.

    Where several conditions name many runs each, newest first, there are parts: what is in all of them is
    found by their indexes, from one number to another. Where runs are looked for on the way through the index
    of the list's order, there may be that way. Either can be gone in steps.
    """

    runs: QuerySet[Run]
    number: str = "id"  # by which the list is ordered
    parts: tuple[Part, ...] = ()
    near: int | None = None  # from the newest on, each part has its share up to here; None: it has no more
    merges: bool = False  # whether the parts are asked side by side; else the runs, which join them
    way: Way | None = None


def runs_meeting(
    runs: QuerySet[Run], conditions: Sequence[Condition], rest: Q, *, ordered_by: str
) -> Matching:
    """Those of the runs that meet all conditions, and a rest without an index, for a list in this order."""
    if [condition.order for condition in conditions] == [ordered_by]:
        if ordered_by != "id":
            return met_on_the_way(runs, conditions, rest, ordered_by=ordered_by)
        return Matching(runs.filter(conditions[0].alone, rest), conditions[0].number)
    newest = all(order == "id" for order in (ordered_by, *(condition.order for condition in conditions)))
    merging = connections[runs.db].vendor in MERGING
    in_parts = newest and len(conditions) > 1 and not rest
    many: list[Condition] = []
    few: list[set[int]] = []
    after_share: list[int] = []
    for condition in conditions:
        numbers = runs.filter(condition.alone).order_by(*condition.index).values_list("pk", flat=True)
        past = numbers[FEW : FEW + 1]
        if in_parts:
            part = condition.elsewhere or Part(runs.filter(condition.alone))
            past = part.nth(SHARE, rising=False, beyond=None)
        if past:
            many.append(condition)
            after_share += past
        elif len(found := set(numbers[: FEW + 1])) > FEW:
            many.append(condition)
        else:
            few.append(found)
    if few:
        # Nothing else is said of the runs: SQLite would choose an index for it, and look for the few in that.
        runs = Run.objects.using(runs.db).filter(Among(set.intersection(*few))).order_by()
        return Matching(runs.filter(*(condition.beside for condition in many), rest))
    # Dates end the way through the list's own index, but not those of all that are gone through side by side.
    if len(many) < 2 or not newest or (merging and rest):
        return met_on_the_way(runs, many, rest, ordered_by=ordered_by)
    return _many(runs, many, rest, max(after_share, default=None))


def _many(runs: QuerySet[Run], conditions: Sequence[Condition], rest: Q, near: int | None) -> Matching:
    """The same, newest first, where each condition names many runs. It may be that few meet all."""
    first, *others = conditions
    one = runs.filter(first.alone, rest)
    parts = [other.elsewhere or Part(runs.filter(other.alone)) for other in others]
    if connections[runs.db].vendor in MERGING:
        every = runs.filter(*(condition.beside for condition in conditions), rest)
        return Matching(every, parts=(Part(one), *parts), near=near, merges=True)
    # PostgreSQL does the same with a join, if it is asked for one.
    joined = one.filter(*(Q(pk__in=part.rows.values(part.column)) for part in parts))
    return Matching(joined, parts=(Part(one), *parts), near=near)


def met_on_the_way(
    runs: QuerySet[Run], conditions: Sequence[Condition], rest: Q, *, ordered_by: str
) -> Matching:
    """Those that meet all conditions, through the index of the list's order, which has all that is asked."""
    every = runs.filter(*(condition.beside for condition in conditions), rest)
    # Limits of what the list is ordered by are ends of the way; and so are dates, in a list of the newest.
    newest = ordered_by == "id"
    ends, wanted = (rest, Q()) if newest else (Q(), rest)
    for condition in conditions:
        if condition.order == ordered_by and not newest:
            ends &= condition.beside
        else:
            wanted &= condition.beside
    return Matching(every, way=Way(runs.filter(ends), wanted) if wanted else None)


def in_all(
    matching: Matching, *, rising: bool, beyond: int | None, up_to: int | None = None, limit: int
) -> list[int]:
    """The first runs that are in every part, between these ends."""
    asked = matching.parts if matching.merges else (Part(matching.runs),)
    first, *others = (part.numbers(rising=rising, beyond=beyond, up_to=up_to) for part in asked)
    found = first.intersection(*others) if others else first
    return list(found.order_by("id" if rising else "-id")[:limit])
