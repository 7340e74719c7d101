"""Database errors as one-line messages instead of tracebacks."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError


@contextmanager
def plain_database_errors() -> Iterator[None]:
    """End the process with a one-line message if the database cannot be used."""
    try:
        yield
    except DatabaseError as error:
        raise SystemExit(f"wiggum: {database_complaint(str(error))}") from None


def database_complaint(error: str) -> str:
    """A message for a database error, without the password."""
    # The first line of a driver's message is the reason.
    reason = (error.strip().splitlines() or ["unknown reason"])[0]
    if "relation" in reason or "no such table" in reason:
        return "the database has no tables yet; run: wiggum migrate"
    return f"cannot reach the database {database_name()}: {reason}"


def database_name() -> str:
    """The name of the default database, with its host."""
    database = settings.DATABASES["default"]
    if not database.get("HOST"):
        return str(database["NAME"])
    port = f":{database['PORT']}" if database.get("PORT") else ""
    return f"{database['NAME']} on {database['HOST']}{port}"
