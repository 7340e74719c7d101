"""What lists of runs show and filter by stands in the run's own row."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refinement", "0008_internal_error")]

    operations = [
        migrations.AddField("run", "archived_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("run", "title", models.CharField(blank=True, default="", max_length=160), False),
        migrations.AddField("run", "batch", models.CharField(blank=True, default="", max_length=16), False),
        migrations.AddField("run", "trajectory", models.JSONField(blank=True, default=list)),
        migrations.AddField("run", "signal_rounds", models.PositiveIntegerField(default=0)),
        migrations.AddField("run", "penalty_rounds", models.PositiveIntegerField(default=0)),
        migrations.AddField("run", "cut_rounds", models.PositiveIntegerField(default=0)),
        migrations.AddField(
            "run",
            "rubric",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="refinement.rubric",
            ),
        ),
    ]
