"""Milestones in SQLite's search index: places at which a search can be told how far it has come.

FTS5 looks for words that never stand together until its index ends, whatever range of numbers it was asked
for. Every 128th run or so has one more entry, a word of its own that no text holds: a search for this word
or the others comes up for air there. The entry stands behind the run's last round, as round 65,535.

A later migration that alters `Run` or `Round` on SQLite drops the triggers of `0013_search` and these: it
makes both again with `add_sqlite_triggers` of this module. A test watches.
"""

# ruff: noqa: S608  the statements are made from the names in this file alone
from importlib import import_module

from django.db import migrations

search = import_module("refinement.migrations.0013_search")

# Characters that Unicode gives no meaning to, and FTS5 takes for letters.
MILESTONE = "\ue7a1\uf0d3\ue91c\uf4b6\ue05e"
# One of 128 numbers, spread so that no rhythm in which projects take turns to launch runs has none of them.
HAS_ONE = "{row}.id * 40503 % 65536 < 512"
NUMBER = "({row}.project_id << 48) | ({row}.id << 16) | 65535"
SQLITE_TRIGGERS = {
    "refinement_search_milestone_added": (
        f"AFTER INSERT ON refinement_run WHEN {HAS_ONE.format(row='NEW')} "
        f"BEGIN {search.ADD} VALUES ({NUMBER.format(row='NEW')}, '{MILESTONE}'); END"
    ),
    "refinement_search_milestone_gone": (
        f"BEFORE DELETE ON refinement_run WHEN {HAS_ONE.format(row='OLD')} "
        f"BEGIN {search.FORGET} VALUES ('delete', {NUMBER.format(row='OLD')}, '{MILESTONE}'); END"
    ),
}
OF_ALL = f"FROM refinement_run run WHERE {HAS_ONE.format(row='run')}"
SQLITE_FILL = f"{search.ADD} SELECT {NUMBER.format(row='run')}, '{MILESTONE}' {OF_ALL}"
SQLITE_FORGET = f"{search.FORGET} SELECT 'delete', {NUMBER.format(row='run')}, '{MILESTONE}' {OF_ALL}"


def add_sqlite_triggers(schema_editor):
    """All that keep the search index; those that are missing are made."""
    search.add_sqlite_triggers(schema_editor)
    for name, rule in SQLITE_TRIGGERS.items():
        schema_editor.execute(f"CREATE TRIGGER IF NOT EXISTS {name} {rule}")


def add_milestones(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(SQLITE_FILL)
        add_sqlite_triggers(schema_editor)


def drop_milestones(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for name in SQLITE_TRIGGERS:
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}")
        schema_editor.execute(SQLITE_FORGET)


class Migration(migrations.Migration):
    dependencies = [("refinement", "0026_evaluator")]

    operations = [migrations.RunPython(add_milestones, drop_milestones)]
