"""A new database is made at once, an old one step by step; both end with the same tables and triggers."""

import re
from pathlib import Path

import pytest
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

HALF_WAY = ("refinement", "0013_search")


@pytest.fixture
def migrated(django_db_blocker, tmp_path):
    """Migrates a database of its own, at once or step by step, and tells what is in it."""
    made = []

    def migrate(name: str, *targets: tuple[str, str], at_once: bool) -> dict[tuple[str, str], list[str]]:
        if name not in made:
            made.append(name)
            path = Path(tmp_path) / f"{name}.sqlite3"
            connections.databases[name] = {**connections.databases["default"], "NAME": path}
        with django_db_blocker.unblock():
            executor = MigrationExecutor(connections[name])
            executor.loader.replace_migrations = at_once
            executor.loader.build_graph()
            executor.migrate(list(targets) or executor.loader.graph.leaf_nodes())
            return schema_of(connections[name])

    yield migrate
    for name in made:
        connections[name].close()
        del connections.databases[name]


def schema_of(connection) -> dict[tuple[str, str], list[str]]:
    """Everything in the database as it was made; a table's columns and constraints in no order."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        found = {(kind, name): re.sub(r"\s+", " ", text) for kind, name, text in cursor.fetchall()}
    inside = {
        key: text[text.index("(") + 1 : -1] if key[0] == "table" else text for key, text in found.items()
    }
    return {key: sorted(re.split(r', (?=CONSTRAINT|")', text)) for key, text in inside.items()}


def test_both_ways_lead_to_the_same_database(migrated):
    at_once = migrated("at_once", at_once=True)
    half_way = migrated("in_steps", HALF_WAY, at_once=False)
    assert len(half_way) < len(at_once)
    # Whoever stopped half way goes on with the single steps, as a new version of Wiggum finds them.
    in_steps = migrated("in_steps", at_once=True)
    assert in_steps == at_once
