"""Checks of the database: connection, migrations and clock."""

import time
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, connections
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor

from refinement.cli.doctor.clocks import clock_finding
from refinement.cli.doctor.findings import Finding, fail, ok
from refinement.management.plain_errors import database_complaint, database_name

CONNECT_SECONDS = 4


def connecting_limit() -> None:
    """Limit the connection time, for servers behind a firewall that drops packets."""
    if connection.vendor == "postgresql":
        connections.settings["default"].setdefault("OPTIONS", {})["connect_timeout"] = CONNECT_SECONDS
    elif missing_file():
        connection.settings_dict["NAME"] = ":memory:"  # connecting would create the file


def missing_file() -> Path | None:
    """The SQLite file, if it does not exist."""
    if connection.vendor != "sqlite":
        return None
    path = Path(str(settings.DATABASES["default"]["NAME"]).split("?")[0].removeprefix("file:"))
    return None if path.exists() or ":memory:" in str(path) else path


def database() -> Finding:
    if path := missing_file():
        return fail("database", f"{path} does not exist yet", "Run wiggum migrate, or wiggum up.")
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return fail("database", database_complaint(str(error)), remedy_for())
    version = ".".join(map(str, version_of()))
    return ok("database", f"connected to {connection.display_name} {version}: {database_name()}")


def version_of() -> tuple[int, ...]:
    return connection.get_database_version() if connection.vendor == "postgresql" else sqlite_version()


def sqlite_version() -> tuple[int, ...]:
    import sqlite3

    return sqlite3.sqlite_version_info


def remedy_for() -> str:
    if connection.vendor == "postgresql":
        return "Start PostgreSQL, or fix DATABASE_URL (host, port, name, user and password)."
    return "Check the file's permissions and the disk, or fix DATABASE_URL."


def migrations() -> Finding:
    """Whether the tables match this version."""
    try:
        executor = MigrationExecutor(connection)
    except DatabaseError as error:
        return fail("migrations", database_complaint(str(error)), "See the finding about the database.")
    loader = executor.loader
    known = known_migrations(loader.disk_migrations)
    unknown = sorted(name for app, name in set(loader.applied_migrations) - known if app == "refinement")
    if unknown:
        what = f"the database belongs to a newer version of Wiggum ({unknown[-1]} is unknown here)"
        return fail("migrations", what, "Update this checkout: git pull, then: make install")
    missing = executor.migration_plan(loader.graph.leaf_nodes())
    if missing:
        first = f"{missing[0][0].app_label}.{missing[0][0].name}"
        what = f"{len(missing)} not applied, starting with {first}"
        return fail("migrations", what, "Run wiggum migrate. wiggum up also does it on start.")
    return ok("migrations", "all applied")


def known_migrations(disk: Mapping[tuple[str, str], Migration]) -> set[tuple[str, str]]:
    """The migrations on disk, and those they replace: both may have been applied."""
    return {*disk, *(replaced for migration in disk.values() for replaced in migration.replaces)}


def database_clock() -> Finding:
    """Compare this machine's clock with the database server's."""
    if connection.vendor != "postgresql":
        return ok("database clock", "the database is on this machine")
    before = time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        there = float(cursor.fetchone()[0])
    return clock_finding("database clock", "the database", there, (before + time.time()) / 2)
