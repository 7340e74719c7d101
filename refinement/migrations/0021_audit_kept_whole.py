"""On PostgreSQL the audit log cannot be emptied at once either: no trigger on rows sees a TRUNCATE."""

from django.db import migrations

TABLE = "refinement_auditentry"
NAME = f"{TABLE}_not_emptied"


def add_trigger(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            f"CREATE TRIGGER {NAME} BEFORE TRUNCATE ON {TABLE} FOR EACH STATEMENT "
            "EXECUTE FUNCTION refinement_refuse_audit_change()"
        )


def drop_trigger(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP TRIGGER {NAME} ON {TABLE}")


class Migration(migrations.Migration):
    dependencies = [("refinement", "0020_identities")]
    operations = [migrations.RunPython(add_trigger, drop_trigger)]
