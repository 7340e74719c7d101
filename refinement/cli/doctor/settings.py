"""The settings: whether they can be used at all, and what in them is unwise."""

import stat

from refinement.cli.doctor.findings import Finding, fail, ok, warn
from refinement.cli.instances.django import django_ready


def settings_read() -> Finding:
    """Reads the settings, which everything else needs; a bad one is named."""
    try:
        django_ready()
    except SystemExit as bad:
        words = str(bad.code).removeprefix("wiggum: ")
        return fail(
            "settings", words, "Correct it where you set it: the environment, or the file .env of Compose."
        )
    from django.conf import settings

    if settings.DEBUG:
        remedy = "Unset DEBUG where others can reach the instance: it shows them the insides of every error."
        return warn("settings", "DEBUG is on", remedy)
    return ok("settings", f"every setting can be used; the data is in {settings.DATA_DIR}")


def secret_key() -> Finding:
    """The key that signs sessions, from the environment or from a file of the owner's alone."""
    from django.conf import settings

    kept = settings.DATA_DIR / "secret_key"
    if not kept.exists() or kept.read_text().strip() != settings.SECRET_KEY:
        return ok("secret key", "given in the environment")
    if stat.S_IMODE(kept.stat().st_mode) & 0o077:
        return warn(
            "secret key", f"others on this machine can read {kept}", f"Keep it to yourself: chmod 600 {kept}"
        )
    return ok("secret key", f"kept in {kept}, for its owner alone")
