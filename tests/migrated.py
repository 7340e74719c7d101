"""Migrated databases, made once and then copied, because migrating takes longer than most tests."""

import atexit
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import psycopg
from psycopg import sql

from benchmarks.instance import POSTGRES, ROOT, database_drop, database_make, on_server
from tests.house.processes import environment, manage

TEMPLATE = "WIGGUM_TEST_TEMPLATE"
KEPT = ROOT / ".pytest_cache" / "migrated"


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """The folder. The first process creates it while others wait."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            fresh = Path(tempfile.mkdtemp(dir=folder.parent))
            make(fresh)
            fresh.rename(folder)
    return folder


def migrate(directory: Path, **settings: str) -> None:
    done = manage("migrate", "--verbosity", "0", env=environment(directory, **settings))
    assert done.returncode == 0, done.stderr


@cache
def migrated_directory() -> Path:
    """A data directory with an empty migrated database, to copy; kept between test runs."""
    sources = [*sorted((ROOT / "refinement/migrations").rglob("*.py")), ROOT / "requirements/app.txt"]
    key = sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()
    return made_once(KEPT / key[:16], migrate)


@cache
def migrated_postgres() -> str:
    """The name of a PostgreSQL database to copy: shared in a test run, otherwise for this process only."""
    name = os.environ.get(TEMPLATE)
    if name:
        KEPT.mkdir(parents=True, exist_ok=True)
        with (KEPT / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not database_exists(name):
                fresh = database_make(f"{name}_fresh")
                migrated_into(fresh)
                on_server("ALTER DATABASE {} RENAME TO {}", f"{name}_fresh", name)
        return name
    name = f"wiggum_migrated_{os.getpid()}"
    address = database_make(name)
    atexit.register(database_drop, address)
    migrated_into(address)
    return name


def migrated_into(address: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        migrate(Path(directory), DATABASE_URL=address)


def database_exists(name: str) -> bool:
    with psycopg.connect(POSTGRES) as server:
        return bool(server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone())


@contextmanager
def shared_template() -> Iterator[None]:
    """Processes started inside the block copy the same PostgreSQL database, which is dropped at the end."""
    name = f"wiggum_migrated_{os.getpid()}"
    os.environ[TEMPLATE] = name
    try:
        yield
    finally:
        with suppress(psycopg.OperationalError):  # there is no server
            on_server("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
        (KEPT / f"{name}.lock").unlink(missing_ok=True)


def postgres_copied(name: str) -> str:
    """Copies the migrated database to this name; returns its URL."""
    copying = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(copying.format(sql.Identifier(name), sql.Identifier(migrated_postgres())))
    return f"{POSTGRES.rsplit('/', 1)[0]}/{name}"
