"""What the run list's rows need beyond the runs themselves: one bounded query for each kind of fact."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Max

from refinement.engine.types import Outcome
from refinement.models import CheckResult, PanelJudge, Project, Round, Run, RunStatus, User
from refinement.selectors.reviews.people_gap import PeopleGap, people_gaps, unscored_requests
from refinement.selectors.trust.gate import Standing, standings

MOST_QUEUED = 100  # places in line are counted up to here


@dataclass(frozen=True, slots=True)
class RowFacts:
    """Facts by run number."""

    gaps: Mapping[int, PeopleGap]
    unscored: frozenset[int]  # runs that the reader is asked to review and has not scored yet
    seats: Mapping[int, int]  # judges of a board
    failed_checks: Mapping[int, int]  # of the result, in runs that passed
    steps: Mapping[int, str]
    places: Mapping[int, str]
    standings: Mapping[int, Standing]  # of the judges of runs that passed, if the project requires something


def row_facts(runs: Sequence[Run], reader: User, project: Project | None = None) -> RowFacts:
    """The facts of these runs. The steps of running and the places of queued runs are asked for if needed."""
    numbers = [run.pk for run in runs]
    passed = [run.pk for run in runs if run.outcome == Outcome.PASS]
    return RowFacts(
        gaps=people_gaps(numbers),
        unscored=frozenset(
            unscored_requests(reader.pk).filter(run__in=numbers).values_list("run", flat=True)
        ),
        seats=_seats(numbers),
        failed_checks=_failed_checks(passed),
        standings=standings(passed, project),
        steps=_steps([run for run in runs if run.status == RunStatus.RUNNING]),
        places=_places([run.pk for run in runs if run.status == RunStatus.QUEUED]),
    )


def _seats(numbers: Sequence[int]) -> dict[int, int]:
    judges = PanelJudge.objects.filter(run__in=numbers).order_by()
    return dict(judges.values_list("run").annotate(count=Count("pk")))


def _failed_checks(numbers: Sequence[int]) -> dict[int, int]:
    failed = CheckResult.objects.filter(
        passed=False, round__run__in=numbers, round__number=F("round__run__best_round")
    )
    return dict(failed.order_by().values_list("round__run").annotate(count=Count("pk")))


def _steps(runs: Sequence[Run]) -> dict[int, str]:
    """What each run is doing: a text that is not judged yet is being judged."""
    if not runs:
        return {}
    newest = dict(
        Round.objects.filter(run__in=runs).order_by().values_list("run").annotate(number=Max("number"))
    )
    return {run.pk: _step(run.rounds_judged, newest.get(run.pk, 0)) for run in runs}


def _step(judged: int, newest: int) -> str:
    return f"judging round {newest}" if newest > judged else f"writing round {newest + 1}"


def _places(numbers: Sequence[int]) -> dict[int, str]:
    """Each queued run's place in the line of all projects."""
    if not numbers:
        return {}
    line = Run.objects.filter(status=RunStatus.QUEUED).order_by("pk").values_list("pk", flat=True)
    places = {pk: place for place, pk in enumerate(line[:MOST_QUEUED], start=1)}
    return {number: _place(places.get(number)) for number in numbers}


def _place(place: int | None) -> str:
    if place is None:
        return f"{MOST_QUEUED}+ ahead"
    return "next in line" if place == 1 else f"{ordinal(place)} in line"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
