"""A test database is emptied between tests, which the audit log's own triggers refuse: lifted for that."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.db.backends.sqlite3.base import DatabaseWrapper

KEPT = "refinement_auditentry_kept"


@contextmanager
def deletable(database) -> Iterator[None]:
    """Within it, rows of the audit log can be deleted on SQLite."""
    with database.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = %s", [KEPT])
        found = cursor.fetchone()
        if found:
            cursor.execute(f"DROP TRIGGER {KEPT}")
    try:
        yield
    finally:
        if found:
            with database.cursor() as cursor:
                cursor.execute(found[0])


def audit_emptied() -> None:
    """Forgets what was recorded so far, for a test that counts from here."""
    from refinement.models import AuditEntry

    with deletable(connection):
        AuditEntry.objects.all().delete()


@pytest.fixture(scope="session", autouse=True)
def emptied_between_tests() -> Iterator[None]:
    """Django's own way of emptying a database, with the trigger lifted."""
    kind = DatabaseWrapper.ops_class
    original = kind.execute_sql_flush

    def flush(operations, statements):
        with deletable(operations.connection):
            original(operations, statements)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "execute_sql_flush", flush)
        yield
