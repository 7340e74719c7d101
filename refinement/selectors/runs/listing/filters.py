"""Filters of a run list, as values and as a query.

Each sort order has an index that includes all filtered columns (`BESIDES` in `models/runs/runs.py`), so any
combination of filters is answered from one index.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from django.db.models import QuerySet
from django.utils import timezone

from refinement.models import Project, ReviewRequest, Rubric, Run, RunStatus, RunTag, Suite
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.reviews.people_gap import unscored_requests
from refinement.selectors.runs.listing.search import hits

MARKS = {"signal": "signal_rounds", "penalty": "penalty_rounds", "cut": "cut_rounds"}
DISAGREE = "disagree"
MOST_HITS = 20_000
ANY_IMPORTED = "any"
UNDER_WAY = (RunStatus.RUNNING, RunStatus.QUEUED, RunStatus.WAITING)
MINE = "mine"  # review requests of the user who asks


@dataclass(frozen=True, slots=True)
class RunFilters:
    """Filters of a list. Empty values do not filter."""

    words: str = ""
    outcome: str = ""
    reason: str | tuple[str, ...] = ""  # one of several
    status: str | tuple[str, ...] = ""
    rubric: str = ""
    producer: str = ""
    judge: str = ""
    person: int | None = None
    task_type: str = ""
    tag: str = ""
    since: date | None = None
    until: date | None = None
    r1_min: Decimal | None = None
    r1_max: Decimal | None = None
    best_min: Decimal | None = None
    best_max: Decimal | None = None
    mark: str = ""
    kinship: str = ""
    decision: str = ""
    imported: str = ""  # any, or a file format
    people: str = ""  # DISAGREE: people's scores of the result are far from the judge's
    reviewer: int | None = None  # whose open review requests
    reader: int | None = None  # who must not see other people's scores before giving theirs
    experiment: int | None = None
    suite: str = ""  # a slug
    of_experiments: bool | None = None  # only these, or only others
    archived: bool = False


def runs_matching(project: Project, filters: RunFilters) -> QuerySet[Run]:
    """The runs that match all filters except the search text, unordered."""
    runs = shown_runs(project).filter(archived_at__isnull=not filters.archived, **_columns(project, filters))
    if filters.tag:
        tagged = RunTag.objects.filter(project=project, name=filters.tag)
        runs = runs.filter(pk__in=tagged.values("run"))
    if filters.reviewer:
        asked = ReviewRequest.objects.filter(
            reviewer=filters.reviewer, project=project, closed_at__isnull=True
        )
        runs = runs.filter(pk__in=asked.values("run"))
    if filters.people:
        runs = without_unscored(runs.filter(far_people__gt=0), filters.reader)
    return runs.order_by()


def without_unscored(runs: QuerySet[Run], reader: int | None) -> QuerySet[Run]:
    """Leaves out the runs whose scores by people this reader must not know yet."""
    return runs.exclude(pk__in=unscored_requests(reader).values("run")) if reader else runs


def runs_found(project: Project, filters: RunFilters) -> QuerySet[Run]:
    """Every run in the list, newest first; for a search, the newest matches up to a limit."""
    runs = runs_matching(project, filters)
    if filters.words:
        runs = runs.filter(pk__in=hits(project, filters.words, limit=MOST_HITS))
    return runs.order_by("-pk")


def _columns(project: Project, filters: RunFilters) -> dict[str, object]:
    """Column filters as Django lookups."""
    rubric = Rubric.objects.filter(project=project, slug=filters.rubric).values("pk")[:1]
    suite = Suite.objects.filter(project=project, slug=filters.suite).values("pk")[:1]
    lookups: dict[str, object] = {
        "outcome": filters.outcome,
        "rubric": rubric if filters.rubric else None,
        "experiment": filters.experiment,
        "suite": suite if filters.suite else None,
        "experiment__isnull": None if filters.of_experiments is None else not filters.of_experiments,
        "producer_model": filters.producer,
        "judge_model": filters.judge,
        "created_by": filters.person,
        "task_type": filters.task_type,
        "kinship": filters.kinship,
        "decision": filters.decision,
        "source": "" if filters.imported == ANY_IMPORTED else filters.imported,
        "source__isnull": False if filters.imported == ANY_IMPORTED else None,
        "r1__gte": filters.r1_min,
        "r1__lte": filters.r1_max,
        "best__gte": filters.best_min,
        "best__lte": filters.best_max,
        "created_at__gte": filters.since and midnight(filters.since),
        "created_at__lt": filters.until and midnight(filters.until + timedelta(days=1)),
    }
    for name, wanted in (("stop_reason", filters.reason), ("status", filters.status)):
        lookups[name if isinstance(wanted, str) else f"{name}__in"] = wanted
    if filters.mark:
        lookups[f"{MARKS[filters.mark]}__gt"] = 0
    return {name: value for name, value in lookups.items() if value not in ("", None)}


def midnight(day: date) -> datetime:
    """Start of the day in the current time zone."""
    return timezone.make_aware(datetime.combine(day, time()))
