"""Runs on a project's home page: active, waiting, recent. Every list is bounded."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from refinement.engine.types import Outcome
from refinement.models import Project, RubricVersion, Run, RunStatus
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.runs.filter_options import MOST_OFFERED
from refinement.selectors.runs.lists import Listed, listed
from refinement.selectors.score_words import decimals_of

MOST_GOING = 8
MOST_HELD = 6
MOST_RECENT = 8
FAILED_SINCE = timedelta(days=7)
GOING = (RunStatus.RUNNING, RunStatus.QUEUED)


@dataclass(frozen=True, slots=True)
class Home:
    """The lists of the page, and which first steps are done."""

    going: list[Listed]
    waiting: list[Listed]
    yours: list[Listed]
    recent: list[Listed]
    decimals: dict[int, int]  # of composites, by rubric version
    has_runs: bool
    has_own_rubric: bool


def home_of(project: Project) -> Home:
    """Takes a fixed number of queries."""
    going = [number for status in GOING for number in _numbers(project, MOST_GOING, status=status)]
    waiting = _numbers(project, MOST_HELD, status=RunStatus.WAITING)
    yours = [*_numbers(project, MOST_HELD, status=RunStatus.PAUSED), *_failed(project)][:MOST_HELD]
    recent = _numbers(project, MOST_RECENT, status=RunStatus.FINISHED)
    shown = {entry.run.pk: entry for entry in listed([*going, *waiting, *yours, *recent])}

    def lines(numbers: list[int]) -> list[Listed]:
        return [shown[number] for number in numbers if number in shown]

    return Home(
        going=lines(going[:MOST_GOING]),
        waiting=lines(waiting),
        yours=lines(yours),
        recent=lines(recent),
        decimals=decimals_of(entry.run for entry in shown.values()),
        has_runs=bool(shown) or Run.objects.filter(project=project).exists(),
        has_own_rubric=_own_rubric(project),
    )


def _numbers(project: Project, most: int, **conditions: object) -> list[int]:
    runs = shown_runs(project).filter(archived_at__isnull=True, **conditions)
    return list(runs.order_by("-pk").values_list("pk", flat=True)[:most])


def _failed(project: Project) -> list[int]:
    """Runs that failed recently: they need a retry or can be archived."""
    numbers = _numbers(project, MOST_HELD, outcome=Outcome.ERROR)
    recently = timezone.now() - FAILED_SINCE
    return list(
        Run.objects.filter(pk__in=numbers, finished_at__gte=recently)
        .order_by("-pk")
        .values_list("pk", flat=True)
    )


def _own_rubric(project: Project) -> bool:
    """Whether a rubric was saved after the initial ones."""
    made = project.created_at + timedelta(minutes=1)
    return RubricVersion.objects.filter(
        rubric__in=project.rubrics.order_by("pk").values("pk")[:MOST_OFFERED], created_at__gt=made
    ).exists()
