"""Writes of the busiest path as prepared statements: the same rows as the ORM's at a tenth of its cost.

A worker makes a dozen small writes for each call of a model. The ORM builds each of them anew from
expressions; here the text of a statement is made once, and fields still adapt their own values.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models import AutoField, Field, Model

READING = nullcontext()  # waits for nobody
Values = Mapping[str, object]
Row = tuple[Any, ...]
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
    columns, sql = insert_statement(model, connection.vendor)
    values = [
        value
        if plain and type(value := getattr(row, name)) in BUILT_IN
        else field.get_db_prep_save(field.pre_save(row, add=True), connection)
        for name, field, plain in columns
    ]
    ((row.pk,),) = fetched(connection, sql, values)
    row._state.adding = False  # noqa: SLF001  as the ORM's own insert leaves a row
    row._state.db = using  # noqa: SLF001


def rows_update(
    model: type[Model],
    values: Values,
    where: str,
    where_values: Sequence[Any],
    *,
    returning: Sequence[str] = (),
    using: str = DEFAULT_DB_ALIAS,
) -> list[Row]:
    """Updates where the condition holds; one tuple of the `returning` columns for each changed row."""
    connection = connections[using]
    fields, sql = update_statement(
        model, tuple(values), where, tuple(returning) or ("id",), connection.vendor
    )
    prepared: list[Any] = [
        value if plain and type(value) in BUILT_IN else field.get_db_prep_save(value, connection)
        for (_, field, plain), value in zip(fields, values.values(), strict=True)
    ]
    return fetched(connection, sql, [*prepared, *adapted(where_values, using)])


def rows_select(sql: str, values: Sequence[Any], using: str = DEFAULT_DB_ALIAS) -> list[Row]:
    """The rows of a plain statement."""
    return fetched(connections[using], sql, adapted(values, using))


def fetched(connection: Any, sql: str, values: Sequence[Any]) -> list[Row]:
    """The rows that a statement returns, straight from the driver unless somebody watches the queries."""
    if connection.queries_logged or connection.execute_wrappers:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall())
    connection.ensure_connection()
    connection.validate_thread_sharing()
    if connection.vendor != "sqlite":
        with connection.wrap_database_errors:
            return list(connection.connection.execute(sql, values).fetchall())
    with READING if sql.startswith("SELECT") else connection.turn(), connection.wrap_database_errors:
        return list(connection.connection.execute(with_question_marks(sql), values).fetchall())


@lru_cache(maxsize=256)
def with_question_marks(sql: str) -> str:
    """The statement with its places marked as SQLite's driver wants them."""
    return sql.replace("%s", "?")


def model_of(model: type[Model], values: Row, using: str = DEFAULT_DB_ALIAS) -> Any:
    """The row as an instance, from the columns that `columns_of` names."""
    connection, fields = connections[using], concrete_fields(model)
    converted = list(values)
    for position in converted_positions(model, connection.vendor, connection.alias):
        converted[position] = convert(values[position], fields[position], connection)
    return model.from_db(using, attribute_names(model), converted)


def columns_of(model: type[Model]) -> tuple[str, ...]:
    return tuple(str(field.column) for field in concrete_fields(model))


@lru_cache(maxsize=64)
def concrete_fields(model: type[Model]) -> "tuple[Field[Any, Any], ...]":
    return tuple(model._meta.local_concrete_fields)


@lru_cache(maxsize=64)
def attribute_names(model: type[Model]) -> tuple[str, ...]:
    return tuple(field.attname for field in concrete_fields(model))


@lru_cache(maxsize=64)
def converted_positions(model: type[Model], vendor: str, alias: str) -> tuple[int, ...]:
    """The columns whose values are not what the fields hold: most of them are, and cost nothing."""
    fields = concrete_fields(model)
    return tuple(place for place, field in enumerate(fields) if converters(field, vendor, alias))


def column_of(field: "Field[Any, Any]") -> Column:
    """How a value gets into its column: as it is where the field would not touch it."""
    return field.attname, field, type(field) in KEPT_AS_THEY_ARE


@lru_cache(maxsize=64)
def insert_statement(model: type[Model], vendor: str) -> tuple[tuple[Column, ...], str]:
    fields = tuple(field for field in concrete_fields(model) if not isinstance(field, AutoField))
    columns = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    table = model._meta.db_table
    sql = f'INSERT INTO "{table}" ({columns}) VALUES ({places}) RETURNING "id"'  # noqa: S608
    return tuple(map(column_of, fields)), sql


@lru_cache(maxsize=256)
def update_statement(
    model: type[Model], names: tuple[str, ...], where: str, returning: tuple[str, ...], vendor: str
) -> tuple[tuple[Column, ...], str]:
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    changes = ", ".join(f'"{field.column}" = %s' for field in fields)
    columns = ", ".join(f'"{name}"' for name in returning)
    sql = f'UPDATE "{model._meta.db_table}" SET {changes} WHERE {where} RETURNING {columns}'  # noqa: S608
    return tuple(map(column_of, fields)), sql


def adapted(values: Sequence[Any], using: str) -> list[Any]:
    """Times as this database keeps them; everything else as it is."""
    operations = connections[using].ops
    return [
        operations.adapt_datetimefield_value(value) if hasattr(value, "tzinfo") else value for value in values
    ]


def convert(value: Any, field: "Field[Any, Any]", connection: Any) -> Any:
    """A column's value as the field's type: what the ORM does when it reads."""
    for converter in converters(field, connection.vendor, connection.alias):
        value = converter(value, field.cached_col, connection)
    return value


@lru_cache(maxsize=512)
def converters(field: "Field[Any, Any]", vendor: str, alias: str) -> tuple[Any, ...]:
    connection = connections[alias]
    return (*connection.ops.get_db_converters(field.cached_col), *field.get_db_converters(connection))
