"""The database refuses to change a saved version of a rubric or a suite, and a run's sources.

On SQLite, a later migration that alters one of these tables rebuilds it and drops its trigger: it drops the triggers
first and adds them again at its end. A test watches.
"""

MODELS = ("RubricVersion", "Criterion", "Check", "Source", "SuiteVersion", "SuiteTask")
FORGOTTEN = ("created_by", "from_run")
MESSAGE = "saved versions and sources cannot be changed"


def guarded(apps):
    """Tables and the columns that stay as they are; the author and a task's run may be forgotten."""
    for name in MODELS:
        meta = apps.get_model("refinement", name)._meta
        columns = [field.column for field in meta.local_concrete_fields if field.name not in FORGOTTEN]
        yield meta.db_table, ", ".join(f'"{column}"' for column in columns)


def add_triggers(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == "postgresql"
    if postgresql:
        schema_editor.execute(
            "CREATE FUNCTION refinement_refuse_update() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{MESSAGE}'; END $$"
        )
    action = (
        "FOR EACH ROW EXECUTE FUNCTION refinement_refuse_update()"
        if postgresql
        else f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
    )
    for table, columns in guarded(apps):
        schema_editor.execute(
            f"CREATE TRIGGER {table}_immutable BEFORE UPDATE OF {columns} ON {table} {action}"
        )


def drop_triggers(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == "postgresql"
    for table, _ in guarded(apps):
        schema_editor.execute(f"DROP TRIGGER {table}_immutable" + (f" ON {table}" if postgresql else ""))
    if postgresql:
        schema_editor.execute("DROP FUNCTION refinement_refuse_update()")
