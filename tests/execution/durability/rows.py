"""Reads an instance's rows from another process, with plain queries on SQLite or PostgreSQL."""

import json
import sqlite3
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


class Rows:
    """Reads the database of an instance in another process; every query is a separate transaction."""

    def __init__(self, data_dir: Path, postgres_url: str = "") -> None:
        self.path = data_dir / "wiggum.sqlite3"
        self.postgres_url = postgres_url.replace("postgres://", "postgresql://", 1)

    def all(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        if not self.postgres_url:
            with closing(sqlite3.connect(self.path, timeout=20, isolation_level=None)) as connection:
                return connection.execute(query, values).fetchall()
        cursor = self._postgres.execute(query.replace("?", "%s").encode(), values)
        return cursor.fetchall() if cursor.description else []

    @cached_property
    def _postgres(self) -> "Connection[Any]":
        import psycopg

        return psycopg.connect(self.postgres_url, autocommit=True)

    def one(self, query: str, *values: object) -> Any:
        """The first column of the only row."""
        ((value,),) = self.all(query, *values)
        return value


def plain(value: Any) -> Any:
    """A JSON column as data: SQLite returns it as text."""
    return json.loads(value) if isinstance(value, str) else value
