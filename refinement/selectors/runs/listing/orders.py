"""Sort orders of a run list, and keyset pagination."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db.models import BooleanField, CharField, DecimalField, F, Func, IntegerField, QuerySet, Value

from refinement.models import Run
from refinement.models.runs.runs import TITLE_CHARS
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
    text: bool = False
    rises: bool = False  # its heading sorts the lowest first
    pinned: bool = False  # a filter leaves one value of the key, so only the run number sorts

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
        Order(
            "people", "people_gap", "People above the judge first", "People below the judge first", True, True
        ),
        Order("outcome", "outcome", "Passed first", "Not passed first", text=True),
        Order("title", "title", "Title Z to A", "Title A to Z", text=True, rises=True),
        Order("rubric", "rubric_id", "Newest rubric first", "Oldest rubric first"),
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
    value: Decimal | int | str | None = None  # of the sort key; None if that is the run number
    backwards: bool = False

    def __str__(self) -> str:
        return str(self.number) if self.value is None else f"{self.value}_{self.number}"


def place_from(text: str, order: Order, *, backwards: bool) -> Place | None:
    """The place in a query string; None (the first page) if not valid."""
    value, keyed, number = text.rpartition("_")
    if not (number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS):
        return None
    if bool(keyed) == (order is NEWEST):
        return None
    at = min(int(number), LAST_RUN)
    if order is NEWEST:
        return Place(at, None, backwards)
    key = _text_key(value) if order.text else _number_key(value)
    return None if key is None else Place(at, key, backwards)


def _text_key(value: str) -> str | None:
    return value if len(value) <= TITLE_CHARS and "\x00" not in value else None


def _number_key(value: str) -> Decimal | None:
    try:
        exact = Decimal(value)
    except InvalidOperation:
        return None
    return exact if exact.is_finite() and abs(exact) < LARGEST_KEY else None


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
    if order is NEWEST or order.pinned:
        return runs.filter(**{f"pk__{'gt' if rising else 'lt'}": place.number})
    value: Value
    if order.text:
        value = Value(place.value, CharField())
    elif order.decimal:
        value = Value(place.value, DecimalField(max_digits=20, decimal_places=6))
    else:
        value = Value(int(place.value or 0), IntegerField())
    pair = RowComparison(order.expression, F("pk"), value, Value(place.number), sign=">" if rising else "<")
    # Repeats the first half: row comparison does not use an index on an expression.
    return runs.alias(place_key=order.expression).filter(
        pair, **{f"place_key__{'gte' if rising else 'lte'}": value}
    )
