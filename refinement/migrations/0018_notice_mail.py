"""What only goes out by mail, and when a mail that failed is tried again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refinement", "0017_reviewing_together")]

    operations = [
        migrations.AddField("notice", "inbox", models.BooleanField(default=True)),
        migrations.AddField("notice", "mail_after", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("notice", "mail_tries", models.PositiveSmallIntegerField(default=0)),
    ]
