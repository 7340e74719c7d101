"""Takes a person's second factors away, for administrators who lost their own."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from refinement.management.plain_errors import plain_database_errors
from refinement.models import User
from refinement.services.people.administration import sign_in_reset


class Command(BaseCommand):
    help = "Takes a person's authenticator app, recovery codes, passkeys and provider connection away."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="the mail address of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        with plain_database_errors():
            user = User.objects.filter(email__iexact=options["email"].strip()).first()
            if user is None:
                raise CommandError(
                    f"No account has the mail address {options['email']}. Check how it is spelt."
                )
            done = sign_in_reset(person=user, by=None)
        self.stdout.write(
            f"{user.email} signs in with the password alone; password_link makes a new one."
            if done
            else f"{user.email} has no second factor, passkey or provider connection."
        )
