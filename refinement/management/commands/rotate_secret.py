"""Replaces the secret key, and re-encrypts stored secrets."""

import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from refinement.management.plain_errors import plain_database_errors
from refinement.services.secret_rotation import SecretsReport, secrets_reseal
from wiggum_site import environment as env

FROM_ENVIRONMENT = (
    "SECRET_KEY comes from the environment. To replace it, move the current key to "
    "WIGGUM_SECRET_KEY_FALLBACKS, set SECRET_KEY to a new one of at least 32 characters, restart all web and "
    "worker processes, and run this command again."
)
RESTART = "Restart all web and worker processes now. Until then they cannot read these secrets."
LATER = "The old key still works, so sessions stay valid. In two weeks, or today if it was exposed, {step}."
UNREADABLE = (
    "They were encrypted with another key. Add it to WIGGUM_SECRET_KEY_FALLBACKS and run this command "
    "again. If it is lost, renew the secret of each webhook, and run reset_sign_in for each person."
)


class Command(BaseCommand):
    help = (
        "Replaces the secret key and re-encrypts webhook secrets and second factors. Can be interrupted and "
        "run again. If SECRET_KEY comes from the environment, it re-encrypts only."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--finish",
            action="store_true",
            help="stop accepting the old key; this ends sessions that were not used since the rotation",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if os.environ.get("SECRET_KEY", "").strip():
            if options["finish"]:
                raise CommandError("Remove WIGGUM_SECRET_KEY_FALLBACKS from the environment instead.")
            self.reseal()
            step = "remove WIGGUM_SECRET_KEY_FALLBACKS"
            has_old = settings.SECRET_KEY_FALLBACKS
            self.stdout.write(LATER.format(step=step) if has_old else FROM_ENVIRONMENT)
            return
        current, *old = keys_on_disk()
        if not options["finish"] and not set(old) - {current}:
            env.secret_key_replace(settings.DATA_DIR)
            self.stdout.write("Created a new secret key.")
        self.reseal()
        if options["finish"]:
            (settings.DATA_DIR / env.OLD_KEYS_FILE).unlink(missing_ok=True)
            self.stdout.write("The old key no longer works. Restart all web and worker processes.")
        else:
            self.stdout.write(RESTART)
            self.stdout.write(LATER.format(step="run: manage.py rotate_secret --finish"))

    def reseal(self) -> None:
        with plain_database_errors():
            report: SecretsReport = secrets_reseal(keys_on_disk())
        self.stdout.write(f"Stored secrets: {report.total}. Re-encrypted: {report.outdated}.")
        for whose in report.unreadable:
            self.stderr.write(f"Cannot decrypt: {whose}.")
        if report.unreadable:
            self.stderr.write(UNREADABLE)


def keys_on_disk() -> list[str]:
    """The keys for the next start, current key first. The settings still have the old ones."""
    return [env.secret_key(settings.DATA_DIR), *env.secret_key_fallbacks(settings.DATA_DIR)]
