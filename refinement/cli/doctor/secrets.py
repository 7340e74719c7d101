"""Checks whether SECRET_KEY can decrypt the stored secrets."""

from django.db import DatabaseError

from refinement.cli.doctor.findings import Finding, fail, ok, warn
from refinement.management.plain_errors import database_complaint
from refinement.services.secret_rotation import secrets_report

NAME = "stored secrets"
MOST_NAMED = 3


def stored_secrets() -> Finding:
    """Decrypt every webhook secret and second factor once."""
    try:
        report = secrets_report()
    except DatabaseError as error:
        return fail(NAME, database_complaint(str(error)), "See the finding about the database.")
    if report.unreadable:
        named = ", ".join(report.unreadable[:MOST_NAMED])
        more = f" and {len(report.unreadable) - MOST_NAMED} more" * (len(report.unreadable) > MOST_NAMED)
        return fail(
            NAME,
            f"{len(report.unreadable)} of {report.total} cannot be decrypted: {named}{more}",
            "SECRET_KEY was changed. Set WIGGUM_SECRET_KEY_FALLBACKS to the old key, restart, then run: "
            "manage.py rotate_secret",
        )
    if report.outdated:
        what = f"{report.outdated} of {report.total} are encrypted with an old key"
        return warn(NAME, what, "Re-encrypt them: manage.py rotate_secret")
    return ok(NAME, f"{report.total}, all encrypted with the current key")
