"""A round of an imported run may be without its text, where the file had none; no other round may.

The constraint's change rebuilds the table on SQLite. The search index's triggers name that table, so they
are taken away first and made again at the end.
"""

from importlib import import_module

from django.db import migrations, models

search = import_module("refinement.migrations.0013_search")
ORIGINS = [
    ("seed", "Seed"),
    ("draft", "First draft"),
    ("revision", "Revision"),
    ("hand", "Edited by hand"),
    ("absent", "Text not in the file"),
]


def drop_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for name in search.SQLITE_TRIGGERS:
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}")


def add_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        search.add_sqlite_triggers(schema_editor)


class Migration(migrations.Migration):
    dependencies = [("refinement", "0024_imports")]

    operations = [
        migrations.RunPython(drop_triggers, add_triggers),
        migrations.RemoveConstraint(model_name="round", name="round_candidate_not_empty"),
        migrations.AlterField(
            model_name="round",
            name="origin",
            field=models.CharField(choices=ORIGINS, max_length=10),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.CheckConstraint(
                condition=models.Q(("candidate_chars__gte", 1), ("origin", "absent"), _connector="OR"),
                name="round_candidate_not_empty",
            ),
        ),
        migrations.RunPython(add_triggers, drop_triggers),
    ]
