"""Prints a fresh one-time link for the first account."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from refinement.management.plain_errors import plain_database_errors
from refinement.services.people.setup_links import setup_link_make


class Command(BaseCommand):
    help = "Prints a fresh one-time link with which the first person makes their account."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--address", default="http://127.0.0.1:8000", help="where people reach this instance"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with plain_database_errors():
            token = setup_link_make()
        if token is None:
            raise CommandError("There is an account already; ask one of the administrators for another.")
        self.stdout.write(f"{options['address'].rstrip('/')}/welcome/{token}/")
