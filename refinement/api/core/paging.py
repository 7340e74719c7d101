"""Lists in pages: each begins after an entry, never after a count; and answers with some fields alone."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Self, TypeVar

from django.db.models import Model, QuerySet
from ninja import Field, Schema

from refinement.api.core.problems import Refused, Wrong

MOST = 100
LARGEST_NUMBER = 2**63 - 1
Item = TypeVar("Item", bound=Schema)
Row = TypeVar("Row", bound=Model)
Source = TypeVar("Source")


class Paging(Schema):
    """The query of every list: `paging: Query[Paging]`."""

    limit: int = Field(25, ge=1, le=MOST, description="How many entries a page has.")
    cursor: str = Field(
        "", max_length=200, description="`next` of the page before; leave it out for the first page."
    )


class Page(Schema, Generic[Item]):
    """A page of a list; `next` is null on the last one, and there alone."""

    items: list[Item]
    next: str | None = Field(
        None,
        description="The `cursor` of the next page; null where there is none. A page may have fewer entries "
        "than were asked for, or none, and a next one all the same.",
    )

    @classmethod
    def of(cls, items: Sequence[Item], following: str | None) -> Self:
        """The page of items that are what they should be: made here, they are not read once more."""
        return cls.model_construct(items=list(items), next=following)


def cursor_to(place: object) -> str:
    """A place in a list as a cursor, which nobody has to understand."""
    return urlsafe_b64encode(str(place).encode()).decode().rstrip("=")


def place_in(cursor: str) -> str:
    """The place that a cursor of ours holds; anything else is refused."""
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except (UnicodeError, binascii.Error):
        raise bad_cursor() from None
    if not text.isprintable() or cursor_to(text) != cursor:
        raise bad_cursor()
    return text


def bad_cursor() -> Refused:
    message = "This is no cursor of this list; leave it out to begin with the first page."
    return Refused(422, message, "invalid", [Wrong(where="query.cursor", message=message)])


def page_by_number(
    rows: QuerySet[Row],
    paging: Paging,
    *,
    newest_first: bool = True,
    key: str = "pk",
) -> tuple[list[Row], str | None]:
    """The page's rows by number (or another whole number that is one row's alone), and the next cursor."""
    if paging.cursor:
        given = place_in(paging.cursor)
        if not (given.isascii() and given.isdigit() and int(given) <= LARGEST_NUMBER):
            raise bad_cursor()
        rows = rows.filter(**{f"{key}__{'lt' if newest_first else 'gt'}": int(given)})
    found = list(rows.order_by(f"-{key}" if newest_first else key)[: paging.limit + 1])
    shown, more = found[: paging.limit], len(found) > paging.limit
    return shown, cursor_to(getattr(shown[-1], key)) if more else None


def fields_of(schema: type[Schema], asked: str) -> frozenset[str]:
    """The fields that `fields=` names, or all; what the answer does not have is refused."""
    names = [name.strip() for name in asked.split(",") if name.strip()]
    unknown = [name for name in names if name not in schema.model_fields]
    if unknown:
        known = ", ".join(schema.model_fields)
        message = f"There is no field {unknown[0][:60]!r}; there are {known}."
        raise Refused(422, message, "invalid", [Wrong(where="query.fields", message=message)])
    return frozenset(names or schema.model_fields)


class Fields(Schema):
    """The query of an operation that can answer in part: `wanted: Query[Fields]`."""

    fields: str = Field(
        "",
        max_length=1000,
        description="The fields to answer with, separated by commas; all where it is left out.",
        examples=["id,status,outcome,best"],
    )


def some_of(
    schema: type[Item], getters: Mapping[str, Callable[[Source], Any]], source: Source, wanted: frozenset[str]
) -> Item:
    """The answer with the wanted fields alone; the others are not even worked out.

    The operation says `exclude_unset=True`.
    """
    values = {name: get(source) for name, get in getters.items() if name in wanted}
    return schema.model_construct(set(values), **values)
