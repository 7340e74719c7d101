"""Fills the columns of 0009 for runs that are there already."""

from django.db import migrations

# For runs that are there already: from the rows they belong to. Written for both databases.
RUBRIC = """
UPDATE refinement_run SET rubric_id = (
    SELECT rubric_id FROM refinement_rubricversion WHERE refinement_rubricversion.id = rubric_version_id
)
"""
TITLE = "UPDATE refinement_run SET title = SUBSTR(REPLACE(TRIM(task), CHR, ' '), 1, 160)"
COUNTS = """
UPDATE refinement_run SET
    signal_rounds = (SELECT COUNT(*) FROM refinement_round r
        WHERE r.run_id = refinement_run.id AND r.judged_at IS NOT NULL AND CAST(r.signals AS TEXT) <> '[]'),
    penalty_rounds = (SELECT COUNT(*) FROM refinement_round r
        WHERE r.run_id = refinement_run.id AND r.judged_at IS NOT NULL AND CAST(r.penalties AS TEXT) <> '[]'),
    cut_rounds = (SELECT COUNT(*) FROM refinement_round r
        WHERE r.run_id = refinement_run.id AND r.seen_chars < r.candidate_chars)
"""


def fill(apps, schema_editor):
    newline = "CHR(10)" if schema_editor.connection.vendor == "postgresql" else "CHAR(10)"
    for statement in (RUBRIC, TITLE.replace("CHR", newline, 1), COUNTS):
        schema_editor.execute(statement)
    database = schema_editor.connection.alias
    runs, rounds = (apps.get_model("refinement", name).objects.using(database) for name in ("Run", "Round"))
    for run in runs.filter(rounds_judged__gt=0).only("pk").iterator():
        composites = rounds.filter(run=run, composite__isnull=False).order_by("number")
        run.trajectory = [str(each) for each in composites.values_list("composite", flat=True)]
        run.save(update_fields=["trajectory"])


class Migration(migrations.Migration):
    dependencies = [("refinement", "0009_run_lists")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
