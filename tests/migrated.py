"""A migrated database, made once and then copied: to migrate one takes longer than most of what is tested."""

import atexit
import fcntl
import os
import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path

import psycopg
from psycopg import sql

from benchmarks.instance import POSTGRES, ROOT, database_drop, database_make
from tests.house.processes import environment, manage

KEPT = ROOT / ".pytest_cache" / "migrated"


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """The folder, which the first process that wants it makes while all others wait."""
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
    """A data directory with a fresh database and nothing in it, to be copied; kept between test runs."""
    sources = [*sorted((ROOT / "refinement/migrations").rglob("*.py")), ROOT / "requirements/app.txt"]
    key = sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()
    return made_once(KEPT / key[:16], migrate)


@cache
def migrated_postgres() -> str:
    """The name of a PostgreSQL database to be copied; it goes with this process."""
    name = f"wiggum_migrated_{os.getpid()}"
    address = database_make(name)
    atexit.register(database_drop, address)
    with tempfile.TemporaryDirectory() as directory:
        migrate(Path(directory), DATABASE_URL=address)
    return name


def postgres_copied(name: str) -> str:
    """A copy of the migrated database under this name; its address."""
    copying = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(copying.format(sql.Identifier(name), sql.Identifier(migrated_postgres())))
    return f"{POSTGRES.rsplit('/', 1)[0]}/{name}"
