"""The database: whether it answers, has its tables, and goes by the same clock."""

import time
from collections.abc import Mapping

from django.db import DatabaseError, connection, connections
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor

from refinement.cli.doctor.clocks import clock_finding
from refinement.cli.doctor.findings import Finding, fail, ok
from refinement.management.plain_errors import database_complaint, database_name

CONNECT_SECONDS = 4


def connecting_limit() -> None:
    """A server behind a wall that swallows everything is given up in time."""
    if connection.vendor == "postgresql":
        connections.settings["default"].setdefault("OPTIONS", {})["connect_timeout"] = CONNECT_SECONDS


def database() -> Finding:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return fail("database", database_complaint(str(error)), remedy_for())
    version = ".".join(map(str, version_of()))
    return ok("database", f"{connection.display_name} {version} answers: {database_name()}")


def version_of() -> tuple[int, ...]:
    return connection.get_database_version() if connection.vendor == "postgresql" else sqlite_version()


def sqlite_version() -> tuple[int, ...]:
    import sqlite3

    return sqlite3.sqlite_version_info


def remedy_for() -> str:
    if connection.vendor == "postgresql":
        return "Start PostgreSQL, or correct DATABASE_URL (host, port, name, user and password)."
    return "Look at the file's permissions and its disk, or correct DATABASE_URL."


def migrations() -> Finding:
    """Whether the tables are those of this version."""
    try:
        executor = MigrationExecutor(connection)
    except DatabaseError as error:
        return fail("migrations", database_complaint(str(error)), "See the finding about the database.")
    loader = executor.loader
    known = known_migrations(loader.disk_migrations)
    unknown = sorted(name for app, name in set(loader.applied_migrations) - known if app == "refinement")
    if unknown:
        what = f"the database was prepared by a newer Wiggum ({unknown[-1]} is not known here)"
        return fail("migrations", what, "Update this checkout: git pull, then: make install")
    missing = executor.migration_plan(loader.graph.leaf_nodes())
    if missing:
        first = f"{missing[0][0].app_label}.{missing[0][0].name}"
        what = f"{len(missing)} missing, from {first} on"
        return fail("migrations", what, "Apply them: wiggum migrate; wiggum up does so when it starts.")
    return ok("migrations", "the tables are those of this version")


def known_migrations(disk: Mapping[tuple[str, str], Migration]) -> set[tuple[str, str]]:
    """Those that are there, and those that one of them took the place of: both may have been applied."""
    return {*disk, *(replaced for migration in disk.values() for replaced in migration.replaces)}


def database_clock() -> Finding:
    """This machine's clock against the database's."""
    if connection.vendor != "postgresql":
        return ok("database clock", "the database is on this machine and has its clock")
    before = time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        there = float(cursor.fetchone()[0])
    return clock_finding("database clock", "the database", there, (before + time.time()) / 2)
