"""Writes of the busiest path as prepared statements: the same rows as the ORM's at a tenth of its cost.

A worker makes a dozen small writes for each call of a model. The ORM builds each of them anew from
expressions; here the text of a statement is made once, and fields still adapt their own values.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models import AutoField, Field, Model
from django.utils import timezone
from pydantic_core import PydanticSerializationError, to_json

READING = nullcontext()  # waits for nobody
Values = Mapping[str, object]
Row = tuple[Any, ...]
Names = tuple[str, ...]
Column = tuple[str, "Field[Any, Any]", bool]
BUILT_IN = frozenset({str, int, float, bool, type(None)})  # and no kin of theirs, such as an enumeration
# Fields that leave such a value as it is.
KEPT_AS_THEY_ARE = frozenset(
    {
        models.CharField,
        models.TextField,
        models.BooleanField,
        models.FloatField,
        models.IntegerField,
        models.PositiveIntegerField,
        models.PositiveSmallIntegerField,
        models.PositiveBigIntegerField,
        models.ForeignKey,
    }
)


def row_insert(row: Model, using: str = DEFAULT_DB_ALIAS) -> None:
    """Inserts a new row and sets its key."""
    connection, model = connections[using], type(row)
    columns, sql = insert_statement(model)
    ((row.pk,),) = fetched(connection, f'{sql} RETURNING "id"', insert_values(columns, row, connection))
    row._state.adding = False  # noqa: SLF001  as the ORM's own insert leaves a row
    row._state.db = using  # noqa: SLF001


def row_add(row: Model, using: str = DEFAULT_DB_ALIAS) -> None:
    """Inserts a new row whose key nobody asks for."""
    connection = connections[using]
    columns, sql = insert_statement(type(row))
    carried_out(connection, sql, insert_values(columns, row, connection))


def values_add(model: type[Model], values: Values, using: str = DEFAULT_DB_ALIAS) -> None:
    """The same for values by their columns' names; what is not among them is as in a new row."""
    connection = connections[using]
    columns, sql = insert_statement(model)
    carried_out(connection, sql, new_values(columns, values, connection))


def insert_values(columns: "Sequence[Column]", row: Model, connection: Any) -> list[Any]:
    """What goes into a new row's columns."""
    return [
        value
        if plain and type(value := getattr(row, name)) in BUILT_IN
        else sendable(field, field.pre_save(row, add=True), connection)
        for name, field, plain in columns
    ]


def new_values(columns: "Sequence[Column]", values: Values, connection: Any) -> list[Any]:
    """The same without an instance of the model, which takes longer to make than all of its values."""
    sent = []
    for name, field, plain in columns:
        value = values[name] if name in values else unsaid(field)
        sent.append(value if plain and type(value) in BUILT_IN else sendable(field, value, connection))
    return sent


def unsaid(field: "Field[Any, Any]") -> Any:
    return timezone.now() if getattr(field, "auto_now_add", False) else field.get_default()


def rows_update(
    model: type[Model],
    values: Values,
    where: str,
    where_values: Sequence[Any],
    *,
    returning: Sequence[str],
    using: str = DEFAULT_DB_ALIAS,
) -> list[Row]:
    """Updates where the condition holds; one tuple of the `returning` columns for each changed row."""
    names = ", ".join(f'"{name}"' for name in returning)
    sql, sent = update_of(model, values, where, where_values, using)
    return fetched(connections[using], f"{sql} RETURNING {names}", sent)


def rows_change(
    model: type[Model],
    values: Values,
    where: str,
    where_values: Sequence[Any],
    using: str = DEFAULT_DB_ALIAS,
) -> int:
    """Updates where the condition holds; how many rows that were."""
    return carried_out(connections[using], *update_of(model, values, where, where_values, using))


def update_of(
    model: type[Model], values: Values, where: str, where_values: Sequence[Any], using: str
) -> tuple[str, list[Any]]:
    """An update's statement, and what is sent with it."""
    columns, changes = update_parts(model, tuple(values))
    sent = [*update_values(columns, values, connections[using]), *adapted(where_values, using)]
    return f"{changes} WHERE {where}", sent


def update_values(columns: "Sequence[Column]", values: Values, connection: Any) -> list[Any]:
    """What goes into changed columns."""
    return [
        value if plain and type(value) in BUILT_IN else sendable(field, value, connection)
        for (_, field, plain), value in zip(columns, values.values(), strict=True)
    ]


def sendable(field: "Field[Any, Any]", value: Any, connection: Any) -> Any:
    """What the field makes of a value; times of our own clock and JSON, a step's dozens, the short way."""
    kind = type(field)
    if kind is models.DateTimeField and type(value) is datetime:
        return sent_time(value, connection)
    if kind is models.JSONField and value is not None and getattr(field, "encoder", None) is None:
        return sent_json(value, connection)
    return field.get_db_prep_save(value, connection)


def sent_json(value: Any, connection: Any) -> Any:
    """As Django would keep it, but for spaces that nobody reads."""
    if connection.vendor == "sqlite":
        return json_text(value).decode()
    from psycopg.types.json import Jsonb

    return Jsonb(value, dumps=json_text)


def json_text(value: Any) -> bytes:
    try:
        return to_json(value)
    except PydanticSerializationError:
        # Half of a pair of surrogates, or what cannot be told in JSON: Python's own has words for both.
        return json.dumps(value).encode()


def sent_time(value: datetime, connection: Any) -> Any:
    """As Django would keep it: what is in UTC already need not be looked at for long."""
    if value.tzinfo is not UTC:
        return connection.ops.adapt_datetimefield_value(value)
    return value.replace(tzinfo=None).isoformat(" ") if connection.vendor == "sqlite" else value


def rows_select(sql: str, values: Sequence[Any], using: str = DEFAULT_DB_ALIAS) -> list[Row]:
    """The rows of a plain statement."""
    return fetched(connections[using], sql, adapted(values, using))


def rows_touch(sql: str, values: Sequence[Any], using: str = DEFAULT_DB_ALIAS) -> int:
    """Carries out a plain statement; how many rows it has touched."""
    return carried_out(connections[using], sql, adapted(values, using))


def carried_out(connection: Any, sql: str, values: Sequence[Any]) -> int:
    """How many rows a statement has touched; as `fetched`, for those that return nothing."""
    if watched(connection):
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            return int(cursor.rowcount)
    connection.ensure_connection()
    connection.validate_thread_sharing()
    if connection.vendor == "postgresql":
        with connection.wrap_database_errors:
            return int(prepared_cursor(connection.connection, sql, values).rowcount)
    with connection.turn(), connection.wrap_database_errors:
        return int(connection.connection.execute(with_question_marks(sql), values).rowcount)


def fetched(connection: Any, sql: str, values: Sequence[Any]) -> list[Row]:
    """The rows that a statement returns, straight from the driver unless somebody watches the queries."""
    if watched(connection):
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall())
    connection.ensure_connection()
    connection.validate_thread_sharing()
    if connection.vendor == "postgresql":
        with connection.wrap_database_errors:
            return list(prepared_cursor(connection.connection, sql, values).fetchall())
    with READING if sql.startswith("SELECT") else connection.turn(), connection.wrap_database_errors:
        return list(connection.connection.execute(with_question_marks(sql), values).fetchall())


def watched(connection: Any) -> bool:
    """Whether somebody counts or logs the queries, and must see each of them."""
    return bool(connection.queries_logged or connection.execute_wrappers)


def prepared_cursor(driver: Any, sql: str, values: Sequence[Any]) -> Any:
    """What PostgreSQL answers; it plans each text once and is then sent values alone."""
    from psycopg import RawCursor
    from psycopg.types.numeric import Int8

    # Of one width: a statement would be prepared anew for every mixture of small and large numbers.
    sent = [Int8(value) if type(value) is int else value for value in values]
    return RawCursor(driver).execute(with_numbers(sql), sent, prepare=True)


@lru_cache(maxsize=512)
def with_numbers(sql: str) -> str:
    """The statement with its places as PostgreSQL itself numbers them."""
    first, *others = sql.split("%s")
    return first + "".join(f"${number}{text}" for number, text in enumerate(others, start=1))


@lru_cache(maxsize=256)
def with_question_marks(sql: str) -> str:
    """The statement with its places marked as SQLite's driver wants them."""
    return sql.replace("%s", "?")


def model_of(model: type[Model], values: Row, using: str = DEFAULT_DB_ALIAS, without: Names = ()) -> Any:
    """The row as an instance, from the columns that `columns_of` names; others are read when needed."""
    connection, fields = connections[using], concrete_fields(model, without)
    converted = list(values)
    for position in converted_positions(model, without, connection.vendor, connection.alias):
        converted[position] = convert(values[position], fields[position], connection)
    return model.from_db(using, attribute_names(model, without), converted)


def fields_read(row: Model, names: Names) -> None:
    """Reads the fields of a row that were left out when it was; it must be there."""
    model, using = type(row), row._state.db or DEFAULT_DB_ALIAS  # noqa: SLF001
    fields, sql = read_parts(model, names)
    (values,) = fetched(connections[using], sql, [row.pk])
    for field, value in zip(fields, values, strict=True):
        setattr(row, field.attname, convert(value, field, connections[using]))


@lru_cache(maxsize=16)
def read_parts(model: type[Model], names: Names) -> "tuple[tuple[Field[Any, Any], ...], str]":
    fields = tuple(field for field in concrete_fields(model) if field.name in names)
    columns = ", ".join(f'"{field.column}"' for field in fields)
    return fields, f'SELECT {columns} FROM "{model._meta.db_table}" WHERE "id" = %s'  # noqa: S608


def columns_of(model: type[Model], without: Names = ()) -> tuple[str, ...]:
    return tuple(str(field.column) for field in concrete_fields(model, without))


@lru_cache(maxsize=64)
def concrete_fields(model: type[Model], without: Names = ()) -> "tuple[Field[Any, Any], ...]":
    return tuple(field for field in model._meta.local_concrete_fields if field.name not in without)


@lru_cache(maxsize=64)
def attribute_names(model: type[Model], without: Names) -> tuple[str, ...]:
    return tuple(field.attname for field in concrete_fields(model, without))


@lru_cache(maxsize=64)
def converted_positions(model: type[Model], without: Names, vendor: str, alias: str) -> tuple[int, ...]:
    """The columns whose values are not what the fields hold: most of them are, and cost nothing."""
    fields = concrete_fields(model, without)
    return tuple(place for place, field in enumerate(fields) if converters(field, vendor, alias))


def column_of(field: "Field[Any, Any]") -> Column:
    """How a value gets into its column: as it is where the field would not touch it."""
    return field.attname, field, type(field) in KEPT_AS_THEY_ARE


@lru_cache(maxsize=64)
def insert_statement(model: type[Model]) -> tuple[tuple[Column, ...], str]:
    columns, head = insert_parts(model)
    places = ", ".join(["%s"] * len(columns))
    return columns, f"{head} VALUES ({places})"


@lru_cache(maxsize=64)
def insert_parts(model: type[Model]) -> tuple[tuple[Column, ...], str]:
    """The columns of a new row, and the statement up to their values."""
    fields = tuple(field for field in concrete_fields(model) if not isinstance(field, AutoField))
    names = ", ".join(f'"{field.column}"' for field in fields)
    return tuple(map(column_of, fields)), f'INSERT INTO "{model._meta.db_table}" ({names})'


@lru_cache(maxsize=256)
def update_parts(model: type[Model], names: tuple[str, ...]) -> tuple[tuple[Column, ...], str]:
    """The columns that change, and the statement up to its condition."""
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    changes = ", ".join(f'"{field.column}" = %s' for field in fields)
    return tuple(map(column_of, fields)), f'UPDATE "{model._meta.db_table}" SET {changes}'  # noqa: S608


def adapted(values: Sequence[Any], using: str) -> list[Any]:
    """Times as this database keeps them; everything else as it is."""
    connection = connections[using]
    return [sent_time(value, connection) if isinstance(value, datetime) else value for value in values]


def convert(value: Any, field: "Field[Any, Any]", connection: Any) -> Any:
    """A column's value as the field's type: what the ORM does when it reads."""
    for converter in converters(field, connection.vendor, connection.alias):
        value = converter(value, field.cached_col, connection)
    return value


@lru_cache(maxsize=512)
def converters(field: "Field[Any, Any]", vendor: str, alias: str) -> tuple[Any, ...]:
    connection = connections[alias]
    return (*connection.ops.get_db_converters(field.cached_col), *field.get_db_converters(connection))
