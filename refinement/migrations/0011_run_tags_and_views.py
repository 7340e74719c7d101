"""Every run names its rubric; tags and saved views."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def key():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [
        ("refinement", "0010_run_lists_filled"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            "run",
            "rubric",
            models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="refinement.rubric"
            ),
        ),
        migrations.AlterField("run", "title", models.CharField(blank=True, max_length=160)),
        migrations.AlterField("run", "batch", models.CharField(blank=True, max_length=16)),
        migrations.CreateModel(
            name="RunTag",
            fields=[
                ("id", key()),
                ("name", models.CharField(max_length=50)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="run_tags",
                        to="refinement.project",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tags",
                        to="refinement.run",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "indexes": [models.Index(fields=["project", "name", "-run"], name="run_tag_newest")],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "name"), name="run_tag_unique"),
                    models.CheckConstraint(condition=~models.Q(name=""), name="run_tag_not_empty"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("id", key()),
                ("name", models.CharField(max_length=80)),
                ("query", models.CharField(blank=True, max_length=2000)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to="refinement.project",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="saved_view_name_unique")
                ],
            },
        ),
    ]
