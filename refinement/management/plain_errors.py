"""Failures that whoever runs a command can mend, said in one line instead of a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError


@contextmanager
def plain_database_errors() -> Iterator[None]:
    """Ends the process with one line when the database cannot be used."""
    try:
        yield
    except DatabaseError as error:
        raise SystemExit(f"wiggum: {database_complaint(str(error))}") from None


def database_complaint(error: str) -> str:
    """What is wrong with the database, where, and what to do, without its password."""
    # A driver's message may go on for several lines; the first says what happened.
    reason = (error.strip().splitlines() or ["it gives no reason"])[0]
    if "relation" in reason or "no such table" in reason:
        return "the database has no tables yet; run: python manage.py migrate"
    return f"cannot reach the database {database_name()}: {reason}"


def database_name() -> str:
    """The default database as people know it."""
    database = settings.DATABASES["default"]
    if not database.get("HOST"):
        return str(database["NAME"])
    port = f":{database['PORT']}" if database.get("PORT") else ""
    return f"{database['NAME']} on {database['HOST']}{port}"
