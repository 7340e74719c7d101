"""A rubric's evaluator, and what its command said of a round.

The new column of a version is guarded like all others: the triggers that name the columns are made again.
"""

from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

versions = import_module("refinement.migrations.0004_immutable_versions")


class Migration(migrations.Migration):
    dependencies = [("refinement", "0025_rounds_without_text")]

    operations = [
        migrations.RunPython(versions.drop_triggers, versions.add_triggers),
        migrations.AddField(
            model_name="rubricversion",
            name="evaluator",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.RunPython(versions.add_triggers, versions.drop_triggers),
        migrations.CreateModel(
            name="EvaluatorResult",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("command", models.JSONField()),
                ("exit_code", models.IntegerField(blank=True, null=True)),
                ("stopped", models.CharField(blank=True, max_length=200)),
                ("failure", models.CharField(blank=True, max_length=300)),
                ("stdout", models.TextField(blank=True)),
                ("stderr", models.TextField(blank=True)),
                ("stdout_missing", models.PositiveBigIntegerField(default=0)),
                ("stderr_missing", models.PositiveBigIntegerField(default=0)),
                ("seconds", models.DecimalField(decimal_places=3, max_digits=12)),
                (
                    "open_to",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Nothing"),
                            ("files", "The instance's files"),
                            ("all", "Files and network"),
                        ],
                        max_length=10,
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "round",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="evaluator_result",
                        to="refinement.round",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("exit_code__isnull", False), ("stopped", "")),
                            models.Q(("exit_code__isnull", True), models.Q(("stopped", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="evaluator_ended_or_was_stopped",
                    )
                ],
            },
        ),
    ]
