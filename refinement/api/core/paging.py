"""Keyset pagination, and responses with selected fields."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Generic, Self, TypeVar

from django.db.models import Model, QuerySet
from ninja import Field, Schema

from refinement.api.core.problems import Refused, Wrong

MOST = 100
LARGEST_NUMBER = 2**63 - 1
Number = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]  # the primary key of a row
Item = TypeVar("Item", bound=Schema)
Row = TypeVar("Row", bound=Model)
Source = TypeVar("Source")


class Paging(Schema):
    """Query parameters of every list: `paging: Query[Paging]`."""

    limit: int = Field(25, ge=1, le=MOST, description="Entries per page.")
    cursor: str = Field(
        "", max_length=200, description="`next` of the previous page; omit for the first page."
    )


class Page(Schema, Generic[Item]):
    """A page of a list; `next` is null on the last page only."""

    items: list[Item]
    next: str | None = Field(
        None,
        description="The `cursor` of the next page; null on the last page. A page can have fewer "
        "entries than requested, even none, and still have a next page.",
    )

    @classmethod
    def of(cls, items: Sequence[Item], following: str | None) -> Self:
        """A page of items that are already validated."""
        return cls.model_construct(items=list(items), next=following)


def cursor_to(place: object) -> str:
    """An opaque cursor for a place in a list."""
    return urlsafe_b64encode(str(place).encode()).decode().rstrip("=")


def place_in(cursor: str) -> str:
    """The place in a cursor; raises 422 if it is not valid."""
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except (UnicodeError, binascii.Error):
        raise bad_cursor() from None
    if not text.isprintable() or cursor_to(text) != cursor:
        raise bad_cursor()
    return text


def bad_cursor() -> Refused:
    message = "Invalid cursor. Omit it to start with the first page."
    return Refused(422, message, "invalid", [Wrong(where="query.cursor", message=message)])


def page_by_number(
    rows: QuerySet[Row],
    paging: Paging,
    *,
    newest_first: bool = True,
    key: str = "pk",
) -> tuple[list[Row], str | None]:
    """The page's rows by id or another unique integer, and the next cursor."""
    if paging.cursor:
        given = place_in(paging.cursor)
        if not (given.isascii() and given.isdigit() and int(given) <= LARGEST_NUMBER):
            raise bad_cursor()
        rows = rows.filter(**{f"{key}__{'lt' if newest_first else 'gt'}": int(given)})
    found = list(rows.order_by(f"-{key}" if newest_first else key)[: paging.limit + 1])
    shown, more = found[: paging.limit], len(found) > paging.limit
    return shown, cursor_to(getattr(shown[-1], key)) if more else None


def fields_of(schema: type[Schema], asked: str) -> frozenset[str]:
    """The fields in `fields=`, or all; raises 422 for unknown names."""
    names = [name.strip() for name in asked.split(",") if name.strip()]
    unknown = [name for name in names if name not in schema.model_fields]
    if unknown:
        known = ", ".join(schema.model_fields)
        message = f"Unknown field {unknown[0][:60]!r}. Available: {known}."
        raise Refused(422, message, "invalid", [Wrong(where="query.fields", message=message)])
    return frozenset(names or schema.model_fields)


class Fields(Schema):
    """Query parameters of operations with selectable fields: `wanted: Query[Fields]`."""

    fields: str = Field(
        "",
        max_length=1000,
        description="Comma-separated fields to return; all by default.",
        examples=["id,status,outcome,best"],
    )


def some_of(
    schema: type[Item], getters: Mapping[str, Callable[[Source], Any]], source: Source, wanted: frozenset[str]
) -> Item:
    """The response with the wanted fields only; others are not computed.

    The operation must set `exclude_unset=True`.
    """
    values = {name: get(source) for name, get in getters.items() if name in wanted}
    return schema.model_construct(set(values), **values)
