"""Creates a project with sample data."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug
from django.utils import timezone

from refinement.demo.experiment import demo_experiment
from refinement.demo.project import SLUG, ProjectInUse, demo_people, demo_project, demo_seed
from refinement.demo.trust import demo_trust
from refinement.management.plain_errors import plain_database_errors

MOST_RUNS = 1_000_000


class Command(BaseCommand):
    help = (
        "Creates sample data: a project of its own with people, rubrics and runs of every outcome, with "
        "rounds, verdicts, checks, calls, tags, comments, scores and decisions. No model is called. Run it "
        "again to add more runs. Other projects are not changed. Only sample people act; they cannot sign "
        "in. Administrators of the instance become owners of the project."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--runs", type=int, default=200, help="number of runs to add (default 200)")
        parser.add_argument("--project", default=SLUG, help=f"the project's slug (default {SLUG})")
        parser.add_argument("--days", type=int, default=90, help="number of days the runs cover (90)")
        parser.add_argument("--chars", type=int, default=3_000, help="length of texts (3,000)")
        parser.add_argument(
            "--no-calls",
            action="store_true",
            help="leave out model calls: smaller and faster",
        )
        parser.add_argument(
            "--no-experiment",
            action="store_true",
            help="leave out the suite and its experiment of 188 runs",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        runs, slug = options["runs"], options["project"]
        validate_options(runs, slug, options["days"], options["chars"])
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
                if not options["no_experiment"]:
                    self.add_experiment(slug)
                self.add_labels(slug)
            except ProjectInUse as refused:
                raise CommandError(str(refused)) from None
        self.stdout.write(f"Added {runs:,} runs to the project {slug}: see /p/{slug}/runs/")

    def add_experiment(self, slug: str) -> None:
        """Once per project."""
        project = demo_project(slug)
        experiment = demo_experiment(project, demo_people(project), now=timezone.now())
        if experiment is not None:
            self.stdout.write(f"Added the experiment {experiment.name!r}: see /p/{slug}/experiments/")

    def add_labels(self, slug: str) -> None:
        """Once per project."""
        project = demo_project(slug)
        label_set = demo_trust(project, demo_people(project))
        if label_set is not None:
            self.stdout.write(f"Added the label set {label_set.name!r}: see /p/{slug}/trust/")


def validate_options(runs: int, slug: str, days: int, chars: int) -> None:
    """Raises CommandError."""
    if not 1 <= runs <= MOST_RUNS:
        raise CommandError(f"--runs is {runs}; use 1 to {MOST_RUNS:,}.")
    if not 1 <= days <= 3_650:
        raise CommandError(f"--days is {days}; use 1 to 3,650.")
    if not 200 <= chars <= 200_000:
        raise CommandError(f"--chars is {chars}; use 200 to 200,000.")
    try:
        validate_slug(slug)
    except ValidationError:
        raise CommandError(f"--project is {slug!r}; use lowercase letters, digits and hyphens.") from None
