"""Prints a one-time link for the first account."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from refinement.management.plain_errors import plain_database_errors
from refinement.services.people.setup_links import setup_link_make


class Command(BaseCommand):
    help = "Prints a new one-time link that creates the first account."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--address", default="http://127.0.0.1:8000", help="the URL of this instance")

    def handle(self, *args: Any, **options: Any) -> None:
        with plain_database_errors():
            token = setup_link_make()
        if token is None:
            raise CommandError("An account already exists. Ask an administrator for an invitation.")
        self.stdout.write(f"{options['address'].rstrip('/')}/welcome/{token}/")
