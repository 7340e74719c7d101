"""Django, loaded where a command needs the local database."""

import os


def django_ready() -> None:
    """Sets Django up, once; a bad setting ends the process with one line that names it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wiggum_site.settings")
    import django
    from django.apps import apps

    if not apps.ready:
        django.setup()
