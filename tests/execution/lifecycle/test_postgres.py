"""Concurrent changes on PostgreSQL, which locks rows instead of files."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.migrated import postgres_copied
from tests.postgres import POSTGRES, postgres_answers

ROOT = Path(__file__).resolve().parents[3]
FILES = [
    "tests/execution/experiments/test_at_once.py",
    "tests/execution/lifecycle/test_at_once.py",
    "tests/execution/lifecycle/test_people_at_once.py",
    "tests/execution/lifecycle/test_places.py",
    "tests/execution/trials/test_durability.py",
    "tests/services/reviews/test_comments.py",
    "tests/services/reviews/test_decisions.py",
    "tests/services/reviews/test_human_scores.py",
    "tests/services/reviews/test_requests.py",
]


def test_the_same_tests_pass_on_postgresql():
    if not postgres_answers():
        pytest.skip("no PostgreSQL server answers at the address in WIGGUM_TEST_POSTGRES")
    name = f"wiggum_lifecycle_{os.getpid()}"
    address = f"{POSTGRES.rsplit('/', 1)[0]}/{name}"
    postgres_copied(f"test_{name}")  # the name that Django gives a test database
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *FILES, "-q", "-p", "no:cacheprovider"],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": address},
            capture_output=True,
            text=True,
            timeout=600,
        )
    finally:
        # Django leaves its test database behind where a thread still has a connection to it.
        with psycopg.connect(POSTGRES, autocommit=True) as server:
            dropping = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
            server.execute(dropping.format(sql.Identifier(f"test_{name}")))
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout.splitlines()[-1]
