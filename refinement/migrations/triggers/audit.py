"""The database refuses to change or delete an audit entry.

A project or an account that goes is forgotten by its entries: that reference alone may become NULL.

On SQLite, a later migration that alters `AuditEntry` rebuilds the table and drops its triggers: it adds
them again at its end with `add_triggers`. A test watches.
"""

TABLE = "refinement_auditentry"
FORGOTTEN = ("project_id", "user_id")
MESSAGE = "the audit log can only be added to"


def columns_of(apps):
    return [field.column for field in apps.get_model("refinement", "AuditEntry")._meta.local_concrete_fields]


def changed(columns, same):
    """True for an update that does more than forget a project or a person."""
    kept = [f'NEW."{name}" {same} OLD."{name}"' for name in columns if name not in FORGOTTEN]
    forgotten = [f'(NEW."{name}" IS NULL OR NEW."{name}" {same} OLD."{name}")' for name in FORGOTTEN]
    return f"NOT ({' AND '.join(kept + forgotten)})"


def add_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "CREATE FUNCTION refinement_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{MESSAGE}'; END $$"
        )
        rows, when = "FOR EACH ROW", changed(columns_of(apps), "IS NOT DISTINCT FROM")
        action = "EXECUTE FUNCTION refinement_refuse_audit_change()"
    else:
        rows, when = "", changed(columns_of(apps), "IS")
        action = f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
    schema_editor.execute(
        f"CREATE TRIGGER {TABLE}_unchanged BEFORE UPDATE ON {TABLE} {rows} WHEN ({when}) {action}"
    )
    schema_editor.execute(f"CREATE TRIGGER {TABLE}_kept BEFORE DELETE ON {TABLE} {rows} {action}")
    if schema_editor.connection.vendor == "postgresql":  # no trigger on rows sees a TRUNCATE
        schema_editor.execute(
            f"CREATE TRIGGER {TABLE}_not_emptied BEFORE TRUNCATE ON {TABLE} FOR EACH STATEMENT {action}"
        )


def drop_triggers(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == "postgresql"
    for name in ("unchanged", "kept", *(["not_emptied"] if postgresql else [])):
        schema_editor.execute(f"DROP TRIGGER {TABLE}_{name}" + (f" ON {TABLE}" if postgresql else ""))
    if postgresql:
        schema_editor.execute("DROP FUNCTION refinement_refuse_audit_change()")
