"""Django's migrate command with a lock."""

from typing import Any

from django.core.management.commands import migrate

from refinement.management.migration_lock import migration_lock


class Command(migrate.Command):
    """Waits while another process migrates the same database."""

    def handle(self, *args: Any, **options: Any) -> str | None:
        with migration_lock(options["database"]):
            return super().handle(*args, **options)
