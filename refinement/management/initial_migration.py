"""Writes `0001_initial.py` anew from the models, as `make migration` does.

Until the first release there is one initial migration. Django writes each index and constraint as an
operation of its own, and each operation builds all models again. Here they are part of `CreateModel`, which
halves the time that a new database takes.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import django
from django.db.migrations import AddConstraint, AddField, AddIndex, CreateModel, Migration, RunPython
from django.db.migrations.operations.base import Operation

FILE = Path(__file__).parent.parent / "migrations" / "0001_initial.py"
DOCSTRING = '"""All tables, and the triggers that guard and index them. `make migration` writes it."""'


def detected() -> Migration:
    """The app's initial migration as `makemigrations` would write it."""
    from django.apps import apps
    from django.db.migrations.autodetector import MigrationAutodetector
    from django.db.migrations.loader import MigrationLoader
    from django.db.migrations.state import ProjectState

    loader = MigrationLoader(None, ignore_no_migrations=True)
    detector = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps))
    changes = detector.changes(loader.graph, trim_to_apps={"refinement"}, convert_apps={"refinement"})
    (migration,) = changes["refinement"]
    return migration


def fold(operations: Sequence[Operation]) -> list[Operation]:
    """The operations, with indexes and constraints in `CreateModel` for models that it creates whole."""
    later = {operation.model_name_lower for operation in operations if isinstance(operation, AddField)}
    whole = {
        operation.name_lower: operation.options
        for operation in operations
        if isinstance(operation, CreateModel) and operation.name_lower not in later
    }
    kept: list[Operation] = []
    for operation in operations:
        options = whole.get(getattr(operation, "model_name_lower", ""))
        if options is not None and isinstance(operation, AddIndex):
            options.setdefault("indexes", []).append(operation.index)
        elif options is not None and isinstance(operation, AddConstraint):
            options.setdefault("constraints", []).append(operation.constraint)
        else:
            kept.append(operation)
    return kept


def write() -> None:
    from django.db.migrations.writer import MigrationWriter

    from refinement.migrations.triggers import audit, rubric_versions, search

    FILE.unlink(missing_ok=True)
    migration = detected()
    migration.operations = [  # type: ignore[misc]  # an instance attribute, too
        *fold(migration.operations),
        RunPython(rubric_versions.add_triggers, rubric_versions.drop_triggers),
        RunPython(audit.add_triggers, audit.drop_triggers),
        RunPython(search.add_search, search.drop_search),
    ]
    text = MigrationWriter(migration, include_header=False).as_string()
    FILE.write_text(f"{DOCSTRING}\n\n{text.lstrip()}")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wiggum_site.settings")
    django.setup()
    write()
