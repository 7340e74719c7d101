"""A list's runs from a place on: those that pass its filters, as far as one step leads.

What passes may come late in the list's order, or not at all, and a whole index would be gone through for
it. So a step ends after some thousand entries, and says from where to look further. How far it has come it
learns on the way: one run of many is a milestone, which is told whether it passes or not. Steps find together
what one question would, and a list whose runs come early costs nothing more.
"""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from django.db import connections
from django.db.models import BooleanField, ExpressionWrapper, F, Func, OrderBy, Q, QuerySet, Subquery

from refinement.models import Run
from refinement.selectors import run_conditions
from refinement.selectors.run_conditions import Matching, Part, Way, in_all
from refinement.selectors.run_orders import NEWEST, Order, Place, beyond

# A stride through an order's index: about 6,000 entries. So many of NUMBERS are milestones, scattered by a
# factor, so that there are some among the runs of a project that has only every second number as well.
MILESTONES, NUMBERS, FACTOR = 128, 1 << 16, 40503
MOST_MILESTONES = 12
SPARE_ROWS = 4  # beside the runs of a page, for the milestones that are met where nearly every run passes
Key = tuple[int, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """Numbers and keys in the list's order; unless the step came to the end, where to look further."""

    keys: list[Key]
    resume: Place | None = None
    only_newest: bool = False  # a search found more than was put into the order


class IsMilestone(Func):
    """Whether a run's number is one of those at which a step may end."""

    output_field = BooleanField()

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> Any:
        sql, values = compiler.compile(self.get_source_expressions()[0])
        return f"(({sql} * {FACTOR}) & {NUMBERS - 1}) < {MILESTONES}", values


def is_milestone(number: int) -> bool:
    return (number * FACTOR) & (NUMBERS - 1) < MILESTONES


def step(
    matching: Matching, order: Order, place: Place | None, *, rising: bool, limit: int, strides: int | None
) -> Step:
    """So many runs from the place on at most, within so many strides; None: however far they are."""
    if matching.parts and order is NEWEST:
        return _side_by_side(matching, place, rising=rising, limit=limit, strides=strides)
    if matching.way is not None and strides is not None:
        most = MOST_MILESTONES * strides
        return _on_the_way(matching.way, order, place, rising=rising, limit=limit, most=most)
    rows = _ordered(matching.runs, order, place, rising=rising, number=matching.number)
    return Step(list(rows.values_list("pk", order.expression)[:limit]))


def _ordered(
    runs: QuerySet[Run], order: Order, place: Place | None, *, rising: bool, number: str = "id"
) -> QuerySet[Run]:
    if order.scored:
        runs = runs.filter(**{f"{order.column}__isnull": False})
    if place is not None:
        runs = beyond(runs, order, place, rising=rising)
    ends = [F(number)] if order is NEWEST else [order.expression, F("pk")]
    return runs.order_by(*(OrderBy(end, descending=not rising) for end in ends))


def _on_the_way(way: Way, order: Order, place: Place | None, *, rising: bool, limit: int, most: int) -> Step:
    """Runs that pass and milestones in their order, until there are enough of either."""
    keys: list[Key] = []
    milestones, rows = 0, max(limit + SPARE_ROWS, most)
    with closing(_passed(way, order, place, rising=rising, limit=rows)) as passed:
        for count, (number, key, wanted) in enumerate(passed, start=1):
            if wanted:
                keys.append((number, key))
            if len(keys) == limit:
                break
            milestones += is_milestone(number)
            # What comes next was not looked at: PostgreSQL has been asked for no more rows than these.
            if milestones == most or count == rows:
                return Step(keys, Place(number, None if order is NEWEST else key))
    return Step(keys)


def _passed(
    way: Way, order: Order, place: Place | None, *, rising: bool, limit: int
) -> Generator[tuple[int, Any, bool]]:
    """Number and key of each run that passes or is a milestone, and whether it passes."""
    wanted = ExpressionWrapper(way.wanted, output_field=BooleanField())
    runs = way.runs.annotate(wanted=wanted).filter(Q(wanted=True) | Q(IsMilestone(F("pk"))))
    rows = _ordered(runs, order, place, rising=rising).values_list("pk", order.expression, "wanted")
    # One after the other: SQLite goes on to the next only when it is asked for it.
    few = rows[:limit]
    yield from few.iterator(chunk_size=1) if connections[few.db].vendor == "sqlite" else few


def _side_by_side(
    matching: Matching, place: Place | None, *, rising: bool, limit: int, strides: int | None
) -> Step:
    """Runs that are in all parts, to where one of these has had its share."""
    start = place.number if place else None
    end = None
    if strides is not None and start is not None:
        end = _numbers_on(start, run_conditions.SHARE * strides, rising=rising)
    elif strides is not None:
        end = _nearest_end(matching.parts, rising=rising) if rising else matching.near
    numbers = in_all(matching, rising=rising, beyond=start, up_to=end, limit=limit)
    resume = Place(end) if end is not None and len(numbers) < limit else None
    return Step([(number, number) for number in numbers], resume)


def _numbers_on(start: int, share: int, *, rising: bool) -> int | None:
    """So many numbers on, each of a run or of none; None where that is beyond all runs."""
    if not rising:
        return start - share if start > share else None
    last = Run.objects.order_by("-pk").values_list("pk", flat=True)[:1]
    return start + share if any(number > start + share for number in last) else None


def _nearest_end(parts: Sequence[Part], *, rising: bool) -> int | None:
    """The number at which the first of the parts has had its share; None where all come to their end."""
    ends = [Subquery(part.nth(run_conditions.SHARE, rising=rising, beyond=None)) for part in parts]
    # Any one row: all that is asked for is beside it.
    found = Run.objects.order_by().values_list(*ends)[:1]
    numbers = [number for row in found for number in row if number is not None]
    return (min if rising else max)(numbers, default=None)
