"""Copies a block of rows many times in the database, which is much faster than creating them one by one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.db import connection, models, transaction


@dataclass(slots=True)
class Block:
    """The rows of one model that were created in a `with` block: ids above `low`, up to `high`."""

    model: type[models.Model]
    low: int
    high: int = 0

    @property
    def size(self) -> int:
        return self.high - self.low


@contextmanager
def blocks_created() -> Iterator[list[Block]]:
    """Yields a list that contains the rows created inside the `with` block once it has ended."""
    found: list[Block] = []
    before = [Block(model, last_id(model)) for model in tables()]
    yield found
    for block in before:
        block.high = last_id(block.model)
        if block.size:
            found.append(block)


def tables() -> list[Any]:
    """The app's models, each after those that it refers to, as far as they have numbered rows."""
    every: list[Any] = list(apps.get_app_config("refinement").get_models(include_auto_created=True))
    return [model for model in every if isinstance(model._meta.pk, models.AutoField)]


def last_id(model: Any) -> int:
    return int(model.objects.aggregate(last=models.Max("pk"))["last"] or 0)


@transaction.atomic
def blocks_copy(blocks: Sequence[Block], number: int, later: timedelta) -> None:
    """Writes copy `number` (1, 2, …) of the blocks, with all times moved by `later`."""
    by_model = {block.model: block for block in blocks}
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for block in blocks:
            cursor.execute(copy_statement(block, by_model, number, later))


def copy_statement(block: Block, by_model: dict[Any, Block], number: int, later: timedelta) -> str:
    fields: list[Any] = list(block.model._meta.local_concrete_fields)
    quote = connection.ops.quote_name
    values = [value_of(field, by_model, number, later) for field in fields]
    table, key = quote(block.model._meta.db_table), quote(str(block.model._meta.pk.column))
    columns = ", ".join(quote(field.column) for field in fields)
    return (
        f"INSERT INTO {table} ({columns}) SELECT {', '.join(values)} FROM {table} "
        f"WHERE {key} > {block.low} AND {key} <= {block.high} ORDER BY {key}"
    )


def value_of(field: Any, by_model: dict[Any, Block], number: int, later: timedelta) -> str:
    column = connection.ops.quote_name(field.column)
    block = by_model.get(field.model if field.primary_key else field.related_model)
    if block is not None:
        moved = f"{column} + {number * block.size}"
        return f"CASE WHEN {column} > {block.low} AND {column} <= {block.high} THEN {moved} ELSE {column} END"
    if isinstance(field, models.DateTimeField):
        seconds = later.total_seconds()
        if connection.vendor == "postgresql":
            return f"{column} + interval '{seconds} seconds'"
        return f"strftime('%Y-%m-%d %H:%M:%f', {column}, '+{seconds} seconds')"
    return column
