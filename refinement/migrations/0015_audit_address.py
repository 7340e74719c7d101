"""Audit entries say from where; indexes for their filters."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refinement", "0014_invitations_and_sessions")]

    operations = [
        migrations.AddField(
            model_name="auditentry",
            name="address",
            field=models.CharField(blank=True, default="", max_length=45),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["project", "user", "-id"], name="audit_of_person"),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["project", "action", "-id"], name="audit_of_action"),
        ),
    ]
