"""Links that let people into a project, and where a person is signed in."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

ROLES = [("viewer", "Viewer"), ("editor", "Editor"), ("owner", "Owner")]


class Migration(migrations.Migration):
    dependencies = [("refinement", "0013_search")]

    operations = [
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(choices=ROLES, max_length=10)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="sent to")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="refinement.project")),
                ("used_by", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("role__in", ["viewer", "editor", "owner"])), name="invitation_role_known"),
                    models.CheckConstraint(condition=models.Q(("used_at__isnull", True), ("revoked_at__isnull", True), _connector="OR"), name="invitation_used_or_revoked"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SessionInfo",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session_key", models.CharField(max_length=40, unique=True)),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_used_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("address", models.CharField(blank=True, default="", max_length=45)),
                ("agent", models.CharField(blank=True, default="", max_length=300)),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="session_infos", to=settings.AUTH_USER_MODEL)),
            ],
            options={"ordering": ["-last_used_at", "-id"]},
        ),
    ]
