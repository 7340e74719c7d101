"""The queue of messages and the workers' signs of life."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("refinement", "0001_people"),
    ]

    operations = [
        migrations.CreateModel(
            name="WorkerBeat",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, unique=True)),
                ("started_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField(db_index=True)),
                ("threads", models.PositiveIntegerField()),
                ("version", models.CharField(max_length=40)),
            ],
        ),
        migrations.CreateModel(
            name="QueuedMessage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("queue", models.CharField(max_length=100)),
                ("message_id", models.CharField(max_length=64)),
                ("body", models.TextField()),
                ("priority", models.IntegerField(default=0)),
                ("eta", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("claimed", "Claimed"), ("dead", "Dead")],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("lease_owner", models.CharField(blank=True, default="", max_length=64)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("requeues", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["queue", "state", "priority", "eta", "id"], name="message_claim"),
                    models.Index(fields=["state", "lease_until"], name="message_lease"),
                    models.Index(fields=["state", "updated_at"], name="message_dead"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "claimed", "dead"])),
                        name="message_state_known",
                    )
                ],
            },
        ),
    ]
