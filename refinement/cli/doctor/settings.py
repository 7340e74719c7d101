"""Checks of the settings."""

import os
import stat

from refinement.cli.doctor.findings import Finding, fail, ok, warn
from refinement.cli.instances.django import django_ready
from wiggum_site.environment import ReadOnly


def settings_read() -> Finding:
    """Load the settings, which most other checks need."""
    ReadOnly.on = True
    try:
        django_ready()
    except SystemExit as bad:
        message = str(bad.code).removeprefix("wiggum: ")
        return fail("settings", message, "Fix it in the environment, or in the .env file of Compose.")
    finally:
        ReadOnly.on = False
    from django.conf import settings

    if settings.DEBUG:
        remedy = "Unset DEBUG if others can reach the instance: error pages show internals."
        return warn("settings", "DEBUG is on", remedy)
    return ok("settings", f"valid; data is in {settings.DATA_DIR}")


def secret_key() -> Finding:
    """The key that signs sessions, from the environment or from a private file."""
    from django.conf import settings

    file = settings.DATA_DIR / "secret_key"
    if not file.exists() and not os.environ.get("SECRET_KEY", "").strip():
        return ok("secret key", "not created yet; wiggum up creates it")
    if not file.exists() or file.read_text().strip() != settings.SECRET_KEY:
        return ok("secret key", "set in the environment")
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        return warn(
            "secret key", f"others on this machine can read {file}", f"Make it private: chmod 600 {file}"
        )
    return ok("secret key", f"stored in {file}, readable only by its owner")
