"""Brings a kept database to the current models: `python -m benchmarks.reshaping OLD_MIGRATION`.

Until the first release there is one initial migration, rewritten with each change of the models, so `migrate`
does nothing for a database that was filled before. The differences between the two versions are applied as
ordinary schema changes. A table that SQLite copies for one loses its triggers: the benchmarks only read.
"""

import os
import runpy
import sys
from pathlib import Path

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
    with connection.schema_editor() as editor:
        for operation in operations:
            after = state.clone()
            operation.state_forwards(APP, after)
            operation.database_forwards(APP, editor, state, after)
            state = after
    return [operation.describe() for operation in operations]


if __name__ == "__main__":
    main()
