"""Regenerates `0001_initial.py` from the models, for `make migration`.

Until the first release there is one initial migration. Django writes many foreign keys, indexes and
constraints as operations of their own, and each operation builds all models again. Here they are part of
`CreateModel`, so a new database takes a third of the time.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import django
from django.db.migrations import AddConstraint, AddField, AddIndex, CreateModel, Migration, RunPython
from django.db.migrations.operations.base import Operation
from django.db.models import BaseConstraint, Index

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
    """The operations with each model created whole, and only what closes a circle of models added later."""
    waiting = {each.name_lower: each for each in operations if isinstance(each, CreateModel)}
    for each in operations:
        if isinstance(each, AddField):
            waiting[each.model_name_lower].fields.append((each.name, each.field))
    made: dict[str, CreateModel] = {}
    late: list[AddField] = []
    while waiting:
        missing = {name: missing_fields(model, set(waiting) - {name}) for name, model in waiting.items()}
        name = min(missing, key=lambda name: len(missing[name]))
        made[name] = waiting.pop(name)
        late += [AddField(name, *field) for field in missing[name]]
        made[name].fields = [field for field in made[name].fields if field not in missing[name]]
    rest = [
        each
        for each in operations
        if not isinstance(each, CreateModel | AddField) and not folded_in(each, made, late)
    ]
    return [*made.values(), *late, *rest]


def missing_fields(model: CreateModel, absent: set[str]) -> list[tuple[str, Any]]:
    """The model's fields that refer to models that are not there yet."""
    found = []
    for name, field in model.fields:
        relation = getattr(field, "remote_field", None)
        targets = [relation.model, getattr(relation, "through", None)] if relation else []
        if any(str(target).lower().rpartition(".")[2] in absent for target in targets):
            found.append((name, field))
    return found


def folded_in(operation: Operation, made: dict[str, CreateModel], late: list[AddField]) -> bool:
    """Whether the index or constraint could become a part of its model, all of whose fields are there."""
    kind: str
    part: Index | BaseConstraint
    if isinstance(operation, AddIndex):
        kind, part = "indexes", operation.index
    elif isinstance(operation, AddConstraint):
        kind, part = "constraints", operation.constraint
    else:
        return False
    text = repr(part.deconstruct())
    if any(each.model_name_lower == operation.model_name_lower and each.name in text for each in late):
        return False
    made[operation.model_name_lower].options.setdefault(kind, []).append(part)
    return True


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
