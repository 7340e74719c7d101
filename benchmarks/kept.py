"""Instances with many runs that are kept between benchmarks, each in a folder."""

import shutil
import subprocess
import sys
from pathlib import Path
from secrets import token_hex

from benchmarks.instance import ROOT, Instance, database_drop, database_make, environment_of

NOWHERE = "http://127.0.0.1:9"
ADDRESS = "database"  # a file with the address of the folder's PostgreSQL database, if it has one
FILLED = "filled"  # a file that exists once all runs are created, with the length of their candidates
SCHEMA = "0001_initial.py"  # the migration that made its tables
CURRENT = ROOT / "refinement/migrations" / SCHEMA
ANALYZE = "from django.db import connection; connection.cursor().execute('ANALYZE')"


def saved_instance(folder: Path, database: str, runs: int, chars: int) -> Instance:
    """The folder's instance with `runs` runs, created if needed and migrated to the current code."""
    if not (folder / FILLED).exists():
        instance_delete(folder)
        fill(instance_create(folder, database), folder, runs, chars)
    elif (folder / FILLED).read_text() != str(chars):
        raise SystemExit(f"{folder} has candidates of another length; use another folder.")
    app = instance_open(folder)
    schema_update(app, folder)
    if database == "postgres":
        app.manage("shell", "-v0", "-c", ANALYZE)  # a new index has no statistics yet
    return app


def instance_create(folder: Path, database: str) -> Instance:
    """Creates an empty instance."""
    folder.mkdir(parents=True)
    if database == "postgres":
        (folder / ADDRESS).write_text(database_make(f"wiggum_bench_{token_hex(6)}"))
    app = instance_open(folder)
    app.manage("migrate", "-v0")
    shutil.copy(CURRENT, folder / SCHEMA)
    return app


def schema_update(app: Instance, folder: Path) -> None:
    """Brings the tables to the current models."""
    app.manage("migrate", "-v0")
    if (folder / SCHEMA).read_bytes() != CURRENT.read_bytes():
        command = [sys.executable, "-m", "benchmarks.reshaping", str(folder / SCHEMA)]
        subprocess.run(command, cwd=ROOT, env=app.environment, check=True)
        shutil.copy(CURRENT, folder / SCHEMA)


def instance_open(folder: Path) -> Instance:
    environment = environment_of(str(folder), NOWHERE) | {"WIGGUM_API_RATE": "1000000"}
    if (folder / ADDRESS).exists():
        environment["DATABASE_URL"] = (folder / ADDRESS).read_text()
    return Instance(environment)


def fill(app: Instance, folder: Path, runs: int, chars: int) -> None:
    command = [sys.executable, "-m", "benchmarks.filling", str(runs), "--chars", str(chars)]
    subprocess.run(command, cwd=ROOT, env=app.environment, check=True)
    (folder / FILLED).write_text(str(chars))


def instance_delete(folder: Path) -> None:
    """Deletes the folder and its database."""
    if (folder / ADDRESS).exists():
        database_drop((folder / ADDRESS).read_text())
    shutil.rmtree(folder, ignore_errors=True)
