"""Empties the test database between tests, with the audit log's triggers disabled."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper as PostgreSQL
from django.db.backends.sqlite3.base import DatabaseWrapper as SQLite

TABLE = "refinement_auditentry"
KEPT = f"{TABLE}_kept"
NOT_EMPTIED = f"{TABLE}_not_emptied"  # PostgreSQL only: TRUNCATE does not look at single rows

UNGUARDED = "SET LOCAL session_replication_role = replica"


@contextmanager
def deletable(database) -> Iterator[None]:
    """Allows deleting rows of the audit log inside the block."""
    with database.cursor() as cursor:
        lift, restore = _ways(database, cursor)
        cursor.execute(lift)
    try:
        yield
    finally:
        with database.cursor() as cursor:
            cursor.execute(restore)


def _ways(database, cursor) -> tuple[str, str]:
    """The statements that disable the trigger and enable it again; they do nothing if there is no table."""
    if database.vendor == "postgresql":
        return _switched("DISABLE"), _switched("ENABLE")
    cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = %s", [KEPT])
    found = cursor.fetchone()
    return f"DROP TRIGGER IF EXISTS {KEPT}", found[0] if found else "SELECT 1"


def _switched(how: str) -> str:
    return f"ALTER TABLE {TABLE} {how} TRIGGER {KEPT}, {how} TRIGGER {NOT_EMPTIED}"


def audit_emptied() -> None:
    """Empties the audit log, for a test that counts entries."""
    from refinement.models import AuditEntry

    with deletable(connection):
        AuditEntry.objects.all().delete()


@pytest.fixture(scope="session", autouse=True)
def emptied_between_tests() -> Iterator[None]:
    """Empties the database as Django does, with the trigger disabled."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (SQLite.ops_class, PostgreSQL.ops_class):
            patch.setattr(kind, "execute_sql_flush", lifted(kind.execute_sql_flush))
        patch.setattr(PostgreSQL.ops_class, "sql_flush", by_deleting(PostgreSQL.ops_class.sql_flush))
        yield


def lifted(original):
    def flush(operations, statements):
        if statements[:1] == [UNGUARDED]:
            return original(operations, statements)
        with deletable(operations.connection):
            return original(operations, statements)

    return flush


def by_deleting(original):
    """Deletes rows, because truncating dozens of small tables takes PostgreSQL seconds. Triggers and foreign
    keys are disabled, which needs an administrator, so the order of the tables does not matter."""

    def statements(operations, style, tables, **options):
        with operations.connection.cursor() as cursor:
            cursor.execute("SELECT usesuper FROM pg_user WHERE usename = CURRENT_USER")
            (administrator,) = cursor.fetchone()
        if not administrator:
            return original(operations, style, tables, **options)
        return [UNGUARDED, *(f'DELETE FROM "{table}"' for table in tables)]

    return statements
