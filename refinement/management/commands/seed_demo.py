"""Fills a project with believable runs."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug
from django.utils import timezone

from refinement.demo.project import ProjectInUse, demo_seed
from refinement.management.plain_errors import plain_database_errors

MOST_RUNS = 1_000_000


class Command(BaseCommand):
    help = (
        "Creates demo data: a project with people, rubrics and runs of every outcome, with comments, scores "
        "and decisions on the newest runs. No model is called. If called again, it adds more runs. A project "
        "with other runs is not changed. The demo people cannot sign in; the instance's administrators "
        "become owners of the project."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--runs", type=int, default=200, help="how many runs to add (default 200)")
        parser.add_argument("--project", default="demo", help="the project's address (default demo)")
        parser.add_argument("--days", type=int, default=90, help="over how many days they are spread (90)")
        parser.add_argument("--chars", type=int, default=3_000, help="how long candidates are (3,000)")
        parser.add_argument(
            "--no-calls",
            action="store_true",
            help="leave out what was said to models: smaller, faster",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        runs, slug = options["runs"], options["project"]
        refuse_impossible(runs, slug, options["days"], options["chars"])
        with plain_database_errors():
            try:
                steps = demo_seed(
                    slug=slug,
                    runs=runs,
                    now=timezone.now(),
                    days=options["days"],
                    chars=options["chars"],
                    calls=not options["no_calls"],
                )
                for done in steps:
                    if done % 5_000 == 0 and done < runs:
                        self.stdout.write(f"{done:,} of {runs:,} runs")
            except ProjectInUse as refused:
                raise CommandError(str(refused)) from None
        self.stdout.write(f"{runs:,} runs are in the project {slug}: see /p/{slug}/runs/")


def refuse_impossible(runs: int, slug: str, days: int, chars: int) -> None:
    """What cannot be made is said before anything is."""
    if not 1 <= runs <= MOST_RUNS:
        raise CommandError(f"--runs is {runs}; ask for 1 to {MOST_RUNS:,}.")
    if not 1 <= days <= 3_650:
        raise CommandError(f"--days is {days}; ask for 1 to 3,650.")
    if not 200 <= chars <= 200_000:
        raise CommandError(f"--chars is {chars}; ask for 200 to 200,000.")
    try:
        validate_slug(slug)
    except ValidationError:
        raise CommandError(f"--project is {slug!r}; use small letters, digits and hyphens.") from None
