"""Sort orders of a run list, and keyset pagination."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db.models import BooleanField, DecimalField, F, Func, IntegerField, QuerySet, Value

from refinement.models import Run
from refinement.selectors.runs.listing.search import LAST_RUN

MOST_DIGITS = 10
LARGEST_KEY = 10**13


@dataclass(frozen=True, slots=True)
class Order:
    """A sort key, highest or newest first. Runs without a score are not in score orders."""

    name: str
    column: str
    words: str
    upwards: str  # label of the reverse order
    scored: bool = False
    decimal: bool = False

    @property
    def expression(self) -> Any:
        if self.name == "tokens":
            return F("prompt_tokens") + F("completion_tokens")
        return F(self.column)


ORDERS = {
    order.name: order
    for order in (
        Order("newest", "id", "Newest first", "Oldest first"),
        Order("best", "best", "Best score first", "Lowest best score first", scored=True, decimal=True),
        Order("r1", "r1", "Highest first round first", "Lowest first round first", scored=True, decimal=True),
        Order("improvement", "improvement", "Most improved first", "Least improved first", True, True),
        Order("rounds", "rounds_judged", "Most rounds first", "Fewest rounds first"),
        Order("tokens", "tokens", "Most tokens first", "Fewest tokens first"),
        Order("time", "model_seconds", "Longest first", "Shortest first", decimal=True),
    )
}
NEWEST = ORDERS["newest"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page starts: after this run, or before it when paging back."""

    number: int
    value: Decimal | int | None = None  # of the sort key; None if that is the run number
    backwards: bool = False

    def __str__(self) -> str:
        return str(self.number) if self.value is None else f"{self.value}_{self.number}"


def place_from(text: str, order: Order, *, backwards: bool) -> Place | None:
    """The place in a query string; None (the first page) if not valid."""
    value, _, number = text.rpartition("_")
    if not (number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS):
        return None
    if bool(value) == (order is NEWEST):
        return None
    try:
        exact = Decimal(value) if value else None
    except InvalidOperation:
        return None
    if exact is not None and not (exact.is_finite() and abs(exact) < LARGEST_KEY):
        return None
    return Place(min(int(number), LAST_RUN), exact, backwards)


class RowComparison(Func):
    """`(key, id) < (value, number)` as a row comparison, which an index in that order can answer."""

    output_field = BooleanField()

    def __init__(self, *sides: Any, sign: str) -> None:
        super().__init__(*sides)
        self.sign = sign

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> Any:
        parts = [compiler.compile(side) for side in self.get_source_expressions()]
        key, number, value, other = (sql for sql, _ in parts)
        return f"({key}, {number}) {self.sign} ({value}, {other})", [v for _, vs in parts for v in vs]


def beyond(runs: QuerySet[Run], order: Order, place: Place, *, rising: bool) -> QuerySet[Run]:
    """The runs after the place."""
    if order is NEWEST:
        return runs.filter(**{f"pk__{'gt' if rising else 'lt'}": place.number})
    if order.decimal:
        value = Value(place.value, DecimalField(max_digits=20, decimal_places=6))
    else:
        value = Value(int(place.value or 0), IntegerField())
    pair = RowComparison(order.expression, F("pk"), value, Value(place.number), sign=">" if rising else "<")
    # Repeats the first half: row comparison does not use an index on an expression.
    return runs.alias(place_key=order.expression).filter(
        pair, **{f"place_key__{'gte' if rising else 'lte'}": value}
    )
