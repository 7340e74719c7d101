"""Removes a person's second factors, for administrators who lost their own."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from refinement.management.plain_errors import plain_database_errors
from refinement.models import User
from refinement.services.people.administration import sign_in_reset


class Command(BaseCommand):
    help = "Removes a person's authenticator app, recovery codes, passkeys and provider connection."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="the email address of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        with plain_database_errors():
            user = User.objects.filter(email__iexact=options["email"].strip()).first()
            if user is None:
                raise CommandError(f"There is no account with the email address {options['email']}.")
            done = sign_in_reset(person=user, by=None)
        self.stdout.write(
            f"{user.email} can now sign in with the password alone. To reset it, run password_link."
            if done
            else f"{user.email} has no second factor, passkey or provider connection."
        )
