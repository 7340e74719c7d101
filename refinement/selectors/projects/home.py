"""What a project's home shows: what needs its reader, what runs, the last results. Every list is bounded."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Count
from django.db.models.fields.json import KT
from django.utils import timezone

from refinement.engine.types import Outcome
from refinement.models import Membership, Project, RubricVersion, Run, RunStatus
from refinement.models.rubrics.rubrics import INITIAL_NOTE
from refinement.selectors.projects.trends import Trend, trends_of
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.reviews.people_gap import PeopleGap, people_gaps, unscored_requests
from refinement.selectors.reviews.requests import MOST_WAITING, ReviewLine, queue_start
from refinement.selectors.runs.demo_model import is_demo_run, without_demo
from refinement.selectors.runs.listing.filter_options import MOST_OFFERED
from refinement.selectors.runs.listing.filters import UNDER_WAY
from refinement.selectors.runs.listing.lists import Listed, listed
from refinement.selectors.runs.listing.rows import quiet_words
from refinement.selectors.runs.words import duration
from refinement.selectors.score_words import composite_text, decimals_of
from refinement.selectors.trust.gate import unproven_passes

MOST_GOING = 5
MOST_HELD = 4
MOST_ASKED = 4
MOST_RECENT = 6
FAILED_SINCE = timedelta(days=7)
WIDE_GAP = Decimal("0.15")  # of the scale, from which people and judge disagree
GAP_WIDTH = 120
OUTSIDE = {"experiment__isnull": True}  # an experiment's page resumes and retries its own runs
LONGEST_LEFT = 6 * 3600  # seconds; beyond that an estimate says nothing


@dataclass(frozen=True, slots=True)
class Going:
    """A run that is not finished, and how far it is."""

    entry: Listed
    round: int
    rounds: int
    left: str  # an estimate; empty before the first score

    @property
    def share(self) -> int:
        return 100 * self.entry.run.rounds_judged // max(self.rounds, 1)


@dataclass(frozen=True, slots=True)
class Gap:
    """People's scores and the judge's, as positions on one line."""

    judge_x: str
    people_x: str
    words: str
    wide: bool
    people: int


@dataclass(frozen=True, slots=True)
class Result:
    entry: Listed
    gap: Gap | None
    is_demo: bool  # the demo model judged it
    quiet: str  # why the gain shows no difference; empty if it does, or if nothing is known
    unproven: str  # why its PASS does not count in gates; empty if it does
    unscored: bool  # the reader is asked to review it and has not scored it: people's views are hidden

    @property
    def is_neutral(self) -> bool:
        """Whether its outcome says nothing about the result, so that it gets no colour."""
        return self.entry.is_chosen_below_mark or (self.is_demo and self.entry.run.outcome != Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class Home:
    """The lists of the page, and which first steps are done."""

    asking: list[Listed]
    reviews: list[ReviewLine]
    more_reviews: int  # that are not among them
    held: list[Listed]  # paused by the reader, or ended in an error lately
    going: list[Going]
    in_progress: dict[str, int]  # how many, by status
    waiting: dict[str, int]  # runs that wait for an endpoint, by its name
    results: list[Result]
    trends: list[Trend]
    decimals: dict[int, int]  # of composites, by rubric version
    has_result: bool  # of a real model
    has_own_rubric: bool

    @property
    def attention(self) -> int:
        return len(self.asking) + len(self.reviews) + self.more_reviews + len(self.held)

    @property
    def in_progress_count(self) -> int:
        return sum(self.in_progress.get(status, 0) for status in UNDER_WAY)

    @property
    def sentence(self) -> str:
        """The page's answer: what waits, what runs, what changed."""
        return " ".join(filter(None, (_waits(self), _runs(self), *_changes(self.trends))))


def home_of(membership: Membership) -> Home:
    """Takes a fixed number of queries."""
    project, user = membership.project, membership.user
    edits = membership.can_edit
    asking = _numbers(project, MOST_HELD, status=RunStatus.PAUSED, plateau_asked=True) if edits else []
    own = {"plateau_asked": False, "created_by": user}
    paused = _numbers(project, MOST_HELD, status=RunStatus.PAUSED, **OUTSIDE, **own) if edits else []
    held = [*(_failed(project) if edits else []), *paused][:MOST_HELD]
    reviews = queue_start(user, project, membership, MOST_WAITING)
    going = [number for status in UNDER_WAY for number in _numbers(project, MOST_GOING, status=status)]
    stopped = _numbers(project, MOST_GOING, status=RunStatus.PAUSED, **OUTSIDE)
    going += [number for number in stopped if number not in {*asking, *paused}]
    judged = {"status": RunStatus.FINISHED, "rounds_judged__gt": 0}
    recent = _numbers(project, MOST_RECENT, **judged, **OUTSIDE)
    shown = {entry.run.pk: entry for entry in listed([*asking, *held, *going, *recent])}
    results = _lines(recent, shown)
    return Home(
        asking=_lines(asking, shown),
        reviews=reviews[:MOST_ASKED],
        more_reviews=len(reviews[MOST_ASKED:]),
        held=_lines(held, shown),
        going=_going(_lines(going, shown)[:MOST_GOING]),
        in_progress=_in_progress(project),
        waiting=_waiting(project),
        results=_results(results, membership),
        trends=trends_of(project),
        decimals=decimals_of(entry.run for entry in shown.values()),
        has_result=any(not is_demo_run(entry.run) for entry in results) or _has_result(project),
        has_own_rubric=_own_rubric(project),
    )


def _numbers(project: Project, most: int, **conditions: object) -> list[int]:
    runs = shown_runs(project).filter(archived_at__isnull=True, **conditions)
    return list(runs.order_by("-pk").values_list("pk", flat=True)[:most])


def _failed(project: Project) -> list[int]:
    """Runs that failed recently, outside of experiments: they need a retry or can be archived."""
    numbers = _numbers(project, MOST_HELD, outcome=Outcome.ERROR, **OUTSIDE)
    recently = timezone.now() - FAILED_SINCE
    failed = Run.objects.filter(pk__in=numbers, finished_at__gte=recently)
    return list(failed.order_by("-pk").values_list("pk", flat=True))


def _lines(numbers: Sequence[int], shown: dict[int, Listed]) -> list[Listed]:
    return [shown[number] for number in numbers if number in shown]


def _has_result(project: Project) -> bool:
    """Whether a real model judged a run. One that failed before is no result, nor is the prepared example."""
    judged = shown_runs(project).filter(source__isnull=True, rounds_judged__gt=0)
    return without_demo(judged).exists()


def _own_rubric(project: Project) -> bool:
    """Whether somebody made or edited a rubric."""
    rubrics = project.rubrics.filter(archived_at=None).order_by("pk").values("pk")[:MOST_OFFERED]
    return RubricVersion.objects.filter(rubric__in=rubrics).exclude(note=INITIAL_NOTE).exists()


def _in_progress(project: Project) -> dict[str, int]:
    """How many runs there are of each status; those without any are left out."""
    statuses = (*UNDER_WAY, RunStatus.PAUSED)
    rows = shown_runs(project).filter(archived_at__isnull=True, status__in=statuses).order_by()
    counts = dict(rows.values_list("status").annotate(number=Count("pk")))
    return {status.value: counts[status] for status in statuses if status in counts}


def _waiting(project: Project) -> dict[str, int]:
    rows = shown_runs(project).filter(archived_at__isnull=True, status=RunStatus.WAITING).order_by()
    return dict(rows.values_list("waiting_endpoint").annotate(number=Count("pk")))


def stalled_count(project: Project) -> int:
    """Runs that are queued or wait, and need a model other than the demo model."""
    held_up = (RunStatus.QUEUED, RunStatus.WAITING)
    return without_demo(shown_runs(project).filter(archived_at__isnull=True, status__in=held_up)).count()


def _going(entries: Sequence[Listed]) -> list[Going]:
    numbers = [entry.run.pk for entry in entries]
    rows = Run.objects.filter(pk__in=numbers).annotate(most=KT("snapshot__policy__max_rounds"))
    limits = {number: int(most or 1) for number, most in rows.values_list("pk", "most")}
    return [_progress(entry.run, entry, limits.get(entry.run.pk, 1)) for entry in entries]


def _progress(run: Run, entry: Listed, rounds: int) -> Going:
    rounds = max(rounds, run.rounds_judged + 1)
    left = ""
    if run.status == RunStatus.RUNNING and run.started_at and run.rounds_judged:
        each = (timezone.now() - run.started_at).total_seconds() / run.rounds_judged
        seconds = each * (rounds - run.rounds_judged)
        left = duration(seconds) if seconds < LONGEST_LEFT else ""
    return Going(entry, run.rounds_judged + 1, rounds, left)


def _results(entries: Sequence[Listed], membership: Membership) -> list[Result]:
    numbers = [entry.run.pk for entry in entries]
    requests = unscored_requests(membership.user_id).filter(run__in=numbers)
    unscored = set(requests.values_list("run", flat=True))
    gaps = people_gaps([number for number in numbers if number not in unscored])
    unproven = unproven_passes((entry.run for entry in entries), membership.project)
    return [
        Result(
            entry,
            _gap(entry, gaps.get(entry.run.pk)),
            is_demo=is_demo_run(entry.run),
            quiet=quiet_words(entry),
            unproven=unproven.get(entry.run.pk, ""),
            unscored=entry.run.pk in unscored,
        )
        for entry in entries
    ]


def _gap(entry: Listed, found: PeopleGap | None) -> Gap | None:
    """The gap on the upper 60 % of the scale; lower scores are drawn at its start."""
    if found is None:
        return None
    version = entry.run.rubric_version
    low, high = version.scale_minimum, version.scale_maximum
    start = low + (high - low) * Decimal("0.4")

    def x(value: Decimal) -> str:
        share = (min(max(value, start), high) - start) / (high - start)
        return f"{6 + float(share) * (GAP_WIDTH - 12):.1f}"

    size = composite_text(abs(found.gap), entry.decimals)
    sign = "" if not float(size) else "−" if found.gap < 0 else "+"
    words = f"{sign}{size}"
    wide = abs(found.gap) >= (high - low) * WIDE_GAP
    return Gap(x(found.mean - found.gap), x(found.mean), words, wide, found.people)


def _waits(home: Home) -> str:
    if not home.attention:
        return "You’re all caught up."
    count = home.attention
    words = "1 item needs you" if count == 1 else f"{count} items need you"
    stopped = len(home.asking)
    if not stopped:
        return f"{words}."
    which = "it" if count == 1 else "one of them" if stopped == 1 else f"{stopped} of them"
    return f"{words}; {which} {'blocks a run' if stopped == 1 else 'block runs'}."


def _runs(home: Home) -> str:
    counts = [f"{count:,} {status}" for status, count in home.in_progress.items()]
    return f"{', '.join(counts)}." if counts else ""


def _changes(trends: Sequence[Trend]) -> list[str]:
    """The pass rate's change, if it is more than chance."""
    return [
        f"Pass rate is {'up' if trend.change.startswith('▲') else 'down'} {trend.change[2:]} in four weeks."
        for trend in trends
        if trend.name == "Pass rate" and trend.change
    ]
