"""Two processes that migrate an empty database at the same time: both succeed, one does the work."""

import os
import subprocess
import sys

import psycopg
import pytest
from psycopg import sql

from tests.house.processes import PATIENCE, ROOT, environment
from tests.postgres import POSTGRES, postgres_answers


@pytest.fixture
def empty_postgres():
    """The address of a database without tables."""
    if not postgres_answers():
        pytest.skip("no PostgreSQL server answers at the address in WIGGUM_TEST_POSTGRES")
    name = f"wiggum_starts_{os.getpid()}"
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield f"{POSTGRES.rpartition('/')[0]}/{name}"
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def migrate_together(count: int, env: dict[str, str]) -> list[str]:
    """What each of the processes wrote; each must end well."""
    command = [sys.executable, "manage.py", "migrate", "--no-input"]
    started = [
        subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for _ in range(count)
    ]
    try:
        written = [process.communicate(timeout=4 * PATIENCE)[0] for process in started]
    finally:
        for process in started:
            process.kill()
    assert [process.returncode for process in started] == [0] * count, "\n".join(written)
    return written


def assert_one_did_the_work(written: list[str]) -> None:
    assert sorted("Applying refinement.0001" in text for text in written) == [False, True]
    assert sum("No migrations to apply" in text for text in written) == 1


def test_on_postgresql(empty_postgres, data_dir):
    assert_one_did_the_work(migrate_together(2, environment(data_dir, DATABASE_URL=empty_postgres)))


def test_on_sqlite(data_dir):
    assert_one_did_the_work(migrate_together(2, environment(data_dir)))
