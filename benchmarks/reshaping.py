"""Brings a kept database to the current models: `python -m benchmarks.reshaping OLD_MIGRATION`.

Until the first release there is one initial migration, rewritten with each change of the models, so `migrate`
does nothing for a database that was filled before. The differences between the two versions are applied as
ordinary schema changes.
"""

import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

APP, NAME = "refinement", "0001_initial"


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "wiggum_site.settings"
    import django

    django.setup()
    for operation in reshape(Path(sys.argv[1])):
        print(operation, file=sys.stderr)


def reshape(old: Path) -> list[str]:
    """Applies what has changed since the old initial migration; returns descriptions of the changes."""
    from django.apps import apps
    from django.db import connection
    from django.db.migrations.autodetector import MigrationAutodetector
    from django.db.migrations.loader import MigrationLoader
    from django.db.migrations.state import ProjectState

    loader = MigrationLoader(None)
    before = runpy.run_path(str(old))["Migration"](NAME, APP)
    needed = [key for key in before.dependencies if key in loader.graph.nodes]
    state = before.mutate_state(loader.project_state(needed))
    detector = MigrationAutodetector(state, ProjectState.from_apps(apps))
    changes = detector.changes(graph=loader.graph, trim_to_apps={APP})
    operations = [each for migration in changes.get(APP, ()) for each in migration.operations]
    with connection.schema_editor() as editor, without_triggers(connection):
        for operation in operations:
            after = state.clone()
            operation.state_forwards(APP, after)
            operation.database_forwards(APP, editor, state, after)
            state = after
    return [operation.describe() for operation in operations]


@contextmanager
def without_triggers(connection: Any) -> Iterator[None]:
    """On SQLite, drops all triggers and creates them again: it renames no table that a trigger reads."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        yield
        for _, definition in triggers:
            cursor.execute(definition)


if __name__ == "__main__":
    main()
