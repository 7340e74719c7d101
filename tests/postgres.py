"""A PostgreSQL database for tests."""

import os
import socket
from contextlib import suppress
from urllib.parse import unquote, urlsplit

import psycopg
import pytest
from django.db import connections
from psycopg import sql

from tests.migrated import postgres_copied

POSTGRES = os.environ.get("WIGGUM_TEST_POSTGRES", "postgres://root@127.0.0.1/test")


def postgres_answers() -> bool:
    parts = urlsplit(POSTGRES)
    with suppress(OSError), socket.create_connection((parts.hostname, parts.port or 5432), timeout=2):
        return True
    return False


@pytest.fixture(scope="session")
def postgres_database():
    """A database of this test run, with the alias `postgres`."""
    if not postgres_answers():
        pytest.skip("no PostgreSQL server answers at the address in WIGGUM_TEST_POSTGRES")
    name = f"wiggum_tests_{os.getpid()}"
    postgres_copied(name)
    parts = urlsplit(POSTGRES)
    connections.databases["postgres"] = {
        **connections.databases["default"],
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname,
        "PORT": str(parts.port or ""),
        "OPTIONS": {},
    }
    yield "postgres"
    del connections.databases["postgres"]
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
