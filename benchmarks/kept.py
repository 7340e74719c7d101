"""Instances that are filled once and measured often: each a folder, some with a database on PostgreSQL."""

import shutil
import subprocess
import sys
from pathlib import Path
from secrets import token_hex

from benchmarks.instance import ROOT, Instance, database_drop, database_make, environment_of

NOWHERE = "http://127.0.0.1:9"
ADDRESS = "database"  # a file: where a folder's database is, if that is not in the folder
FILLED = "filled"  # a file that is there once all runs are: how long their candidates are
ANALYZE = "from django.db import connection; connection.cursor().execute('ANALYZE')"


def kept(folder: Path, database: str, runs: int, chars: int) -> Instance:
    """The folder's instance with so many runs, filled if it is not yet; migrated if the code is newer."""
    if not (folder / FILLED).exists():
        forget(folder)
        fill(prepared(folder, database), folder, runs, chars)
    elif (folder / FILLED).read_text() != str(chars):
        raise SystemExit(f"{folder} was filled with candidates of another length: name another folder.")
    made = opened(folder)
    made.manage("migrate", "-v0")
    if database == "postgres":
        made.manage("shell", "-v0", "-c", ANALYZE)  # a new index has no statistics yet
    return made


def prepared(folder: Path, database: str) -> Instance:
    """An empty instance."""
    folder.mkdir(parents=True)
    if database == "postgres":
        (folder / ADDRESS).write_text(database_make(f"wiggum_bench_{token_hex(6)}"))
    made = opened(folder)
    made.manage("migrate", "-v0")
    return made


def opened(folder: Path) -> Instance:
    environment = environment_of(str(folder), NOWHERE) | {"WIGGUM_API_RATE": "1000000"}
    if (folder / ADDRESS).exists():
        environment["DATABASE_URL"] = (folder / ADDRESS).read_text()
    return Instance(environment)


def fill(made: Instance, folder: Path, runs: int, chars: int) -> None:
    command = [sys.executable, "-m", "benchmarks.filling", str(runs), "--chars", str(chars)]
    subprocess.run(command, cwd=ROOT, env=made.environment, check=True)
    (folder / FILLED).write_text(str(chars))


def forget(folder: Path) -> None:
    """Removes the folder and its database."""
    if (folder / ADDRESS).exists():
        database_drop((folder / ADDRESS).read_text())
    shutil.rmtree(folder, ignore_errors=True)
