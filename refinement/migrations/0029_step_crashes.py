"""Counts workers that were lost in one step, for runs and for trials of the test bench.

The new column rebuilds the table of runs on SQLite, which the search index's triggers name: they are dropped
first and added again at the end.
"""

from importlib import import_module

from django.db import migrations, models

search = import_module("refinement.migrations.0013_search")
milestones = import_module("refinement.migrations.0027_search_milestones")


def drop_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for name in (*search.SQLITE_TRIGGERS, *milestones.SQLITE_TRIGGERS):
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}")


def add_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        milestones.add_sqlite_triggers(schema_editor)


class Migration(migrations.Migration):
    dependencies = [("refinement", "0028_run_list_index_columns")]

    operations = [
        migrations.RunPython(drop_triggers, add_triggers),
        migrations.AddField(
            model_name="run",
            name="step_crashes",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.RunPython(add_triggers, drop_triggers),
        migrations.AddField(
            model_name="benchtrial",
            name="crashes",
            field=models.PositiveSmallIntegerField(default=0),
        ),
    ]
