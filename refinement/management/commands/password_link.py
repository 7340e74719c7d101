"""Prints a password reset link, for instances that send no email."""

from argparse import ArgumentParser
from typing import Any

from allauth.account import app_settings
from allauth.account.utils import user_pk_to_url_str
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from refinement.management.plain_errors import plain_database_errors
from refinement.models import User


class Command(BaseCommand):
    help = "Prints a one-time password reset link for an account."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="the email address of the account")
        parser.add_argument("--address", default="http://127.0.0.1:8000", help="the URL of this instance")

    def handle(self, *args: Any, **options: Any) -> None:
        with plain_database_errors():
            user = User.objects.filter(email__iexact=options["email"].strip()).first()
        if user is None:
            raise CommandError(f"There is no account with the email address {options['email']}.")
        if not user.is_active:
            raise CommandError(f"The account {user.email} is deactivated. Reactivate it first.")
        self.stdout.write(options["address"].rstrip("/") + reset_path(user))


def reset_path(user: User) -> str:
    """The path of a reset link. It works once, and not after the password has changed."""
    token = app_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)
    return reverse(
        "account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": token}
    )
