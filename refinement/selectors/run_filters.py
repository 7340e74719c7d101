"""Which of a project's runs a list shows: filters as plain values, and as conditions on rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import BooleanField, DateTimeField, DecimalField, F, Func, Q, QuerySet, Value
from django.utils import timezone

from refinement.models import Project, Rubric, Run
from refinement.selectors.blindness import shown_runs
from refinement.selectors.run_search import hits

# A range of scores that so few runs are in is looked up by score; a wider one is met soon enough on the
# way from the newest run back.
FEW = 1_000
# Runs are numbered as they are made, but for those that were made at the same moment.
OUT_OF_STEP = 1_000
MARKS = {"signal": "signal_rounds", "penalty": "penalty_rounds", "cut": "cut_rounds"}
MOST_HITS = 20_000
ANY_IMPORTED = "any"
SCORE = DecimalField(max_digits=14, decimal_places=6)


@dataclass(frozen=True, slots=True)
class RunFilters:
    """What a list is narrowed to; what is empty narrows nothing."""

    words: str = ""
    outcome: str = ""
    reason: str = ""
    status: str = ""
    rubric: str = ""
    producer: str = ""
    judge: str = ""
    person: int | None = None
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
    imported: str = ""  # any, or the kind of file
    archived: bool = False


class AboveZero(Func):
    """`column > 0` as text: an index for a part of the rows is used only where the condition is the same."""

    template = "%(expressions)s > 0"
    output_field = BooleanField()


class Unindexed(Func):
    """The same value; SQLite, which keeps no statistics, must not choose an index for it."""

    template = "%(expressions)s"
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="(+%(expressions)s)", **context)


def runs_matching(project: Project, filters: RunFilters, *, ordered_by: str = "id") -> QuerySet[Run]:
    """The runs that pass all filters but the words; conditions suit a list in this order."""
    alone = shown_runs(project).filter(archived_at__isnull=not filters.archived).order_by()
    runs = alone.filter(**dict(_equal(project, filters)))
    if filters.mark:
        runs = runs.filter(AboveZero(F(MARKS[filters.mark])))
    if filters.tag:
        runs = runs.filter(tags__project=project, tags__name=filters.tag)
    runs = _between_dates(runs, project, filters)
    for field in ("r1", "best"):
        low, high = getattr(filters, f"{field}_min"), getattr(filters, f"{field}_max")
        if low is not None or high is not None:
            limits = {f"{field}__gte": low, f"{field}__lte": high}
            given = {end: value for end, value in limits.items() if value is not None}
            runs = _between_scores(runs, field, given, apart=None if ordered_by == field else alone)
    return runs


def runs_found(project: Project, filters: RunFilters) -> QuerySet[Run]:
    """Every run that the list would show, newest first; of a search, as many as can be looked through."""
    runs = runs_matching(project, filters)
    if filters.words:
        runs = runs.filter(pk__in=hits(project, filters.words, limit=MOST_HITS))
    return runs.order_by("-pk")


def _equal(project: Project, filters: RunFilters) -> Iterator[tuple[str, object]]:
    columns = {
        "outcome": filters.outcome,
        "stop_reason": filters.reason,
        "status": filters.status,
        "producer_model": filters.producer,
        "judge_model": filters.judge,
        "created_by": filters.person,
        "kinship": filters.kinship,
        "decision": filters.decision,
    }
    yield from ((name, value) for name, value in columns.items() if value not in ("", None))
    if filters.imported:
        yield ("source__isnull", False) if filters.imported == ANY_IMPORTED else ("source", filters.imported)
    if filters.rubric:
        yield "rubric", Rubric.objects.filter(project=project, slug=filters.rubric).values("pk")[:1]


def _between_dates(runs: QuerySet[Run], project: Project, filters: RunFilters) -> QuerySet[Run]:
    if filters.since is None and filters.until is None:
        return runs
    runs = runs.alias(made_at=Unindexed(F("created_at"), output_field=DateTimeField()))
    numbers = Run.objects.filter(project=project).order_by("created_at").values_list("pk", flat=True)
    if filters.since is not None:
        start = midnight(filters.since)
        first = numbers.filter(created_at__gte=start).first()
        if first is None:
            return runs.none()
        runs = runs.filter(made_at__gte=start, pk__gte=first - OUT_OF_STEP)
    if filters.until is not None:
        end = midnight(filters.until + timedelta(days=1))
        last = numbers.filter(created_at__lt=end).last()
        if last is None:
            return runs.none()
        runs = runs.filter(made_at__lt=end, pk__lte=last + OUT_OF_STEP)
    return runs


def midnight(day: date) -> datetime:
    """The day's first moment where the reader is."""
    return timezone.make_aware(datetime.combine(day, time()))


def _between_scores(
    runs: QuerySet[Run], field: str, limits: dict[str, Decimal], *, apart: QuerySet[Run] | None
) -> QuerySet[Run]:
    """Within the limits; `apart` are the list's runs before any filter, unless scores are its order."""
    if apart is None:
        return runs.filter(**limits)
    few = list(apart.filter(**limits).values_list("pk", flat=True)[: FEW + 1])
    if len(few) <= FEW:
        return runs.filter(pk__in=few)
    within = Q()
    for end, value in limits.items():
        within &= Q(**{end.replace(field, f"{field}_score"): Value(value, output_field=SCORE)})
    return runs.alias(**{f"{field}_score": Unindexed(F(field), output_field=SCORE)}).filter(within)
