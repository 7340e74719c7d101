"""Loads Django for commands that need the local database."""

import os


def django_ready() -> None:
    """Set up Django once. An invalid setting ends the process with a message."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wiggum_site.settings")
    import django
    from django.apps import apps

    if not apps.ready:
        django.setup()
