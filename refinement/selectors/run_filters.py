"""Which of a project's runs a list shows: filters as plain values, and as conditions on rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from django.db.models import (
    BigAutoField,
    CharField,
    DateTimeField,
    DecimalField,
    Exists,
    F,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.lookups import GreaterThanOrEqual, IsNull, LessThan, LessThanOrEqual
from django.utils import timezone

from refinement.models import Project, Rubric, Run, RunTag
from refinement.selectors.blindness import shown_runs
from refinement.selectors.run_conditions import (
    AboveZero,
    Among,
    Condition,
    Matching,
    Part,
    Unindexed,
    column_is,
    met_on_the_way,
    runs_meeting,
)
from refinement.selectors.run_search import hits

# Runs are numbered as they are made, but for those that were made at the same moment.
OUT_OF_STEP = 1_000
MARKS = {"signal": "signal_rounds", "penalty": "penalty_rounds", "cut": "cut_rounds"}
MOST_HITS = 20_000
ANY_IMPORTED = "any"
NONE = Q(pk__in=())
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


def runs_matching(project: Project, filters: RunFilters, *, ordered_by: str = "id") -> Matching:
    """The runs that pass all filters but the words; conditions suit a list in this order."""
    alone = shown_runs(project).filter(archived_at__isnull=not filters.archived).order_by()
    conditions = [*_equal(project, filters), *_scores(filters, ordered_by)]
    dates = _between_dates(project, filters, ordered_by)
    if dates is NONE:
        return Matching(alone.none())
    if filters.archived and ordered_by != "id":  # its index is the only one that these have: they are sorted
        return Matching(alone.filter(*(condition.beside for condition in conditions), dates))
    if filters.archived:
        return met_on_the_way(alone, conditions, dates, ordered_by=ordered_by)
    return runs_meeting(alone, conditions, dates, ordered_by=ordered_by)


def runs_found(project: Project, filters: RunFilters) -> QuerySet[Run]:
    """Every run that the list would show, newest first; of a search, as many as can be looked through."""
    runs = runs_matching(project, filters).runs
    if filters.words:
        runs = runs.filter(Among(hits(project, filters.words, limit=MOST_HITS)))
    return runs.order_by("-pk")


def _equal(project: Project, filters: RunFilters) -> Iterator[Condition]:
    """A value that a column or a tag has."""
    columns: dict[str, object] = {
        "outcome": filters.outcome,
        "stop_reason": filters.reason,
        "status": filters.status,
        "producer_model": filters.producer,
        "judge_model": filters.judge,
        "created_by": filters.person,
        "kinship": filters.kinship,
        "decision": filters.decision,
        "source": "" if filters.imported == ANY_IMPORTED else filters.imported,
    }
    if filters.rubric:
        columns["rubric"] = Rubric.objects.filter(project=project, slug=filters.rubric).values("pk")[:1]
    yield from (column_is(name, value) for name, value in columns.items() if value not in ("", None))
    if filters.imported == ANY_IMPORTED:
        seen = Unindexed(F("source"), output_field=CharField())
        yield Condition(Q(source__isnull=False), Q(IsNull(seen, False)))
    if filters.mark:
        marked = F(MARKS[filters.mark])
        yield Condition(Q(AboveZero(marked)), Q(AboveZero(Unindexed(marked))))
    if filters.tag:
        rows = RunTag.objects.filter(project=project, name=filters.tag).order_by()
        tagged = Q(tags__project=project, tags__name=filters.tag)
        on_run = Q(Exists(RunTag.objects.filter(run=OuterRef("pk"), name=filters.tag)))
        yield Condition(tagged, on_run, index=("-tags__run_id",), elsewhere=Part(rows, "run_id"))


def _scores(filters: RunFilters, ordered_by: str) -> Iterator[Condition]:
    """Scores within limits: by their index where these are the list's order, or few are within them."""
    for field in ("r1", "best"):
        within, beside = Q(), Q()
        for end, value, sign in (
            ("gte", getattr(filters, f"{field}_min"), GreaterThanOrEqual),
            ("lte", getattr(filters, f"{field}_max"), LessThanOrEqual),
        ):
            if value is not None:
                within &= Q(**{f"{field}__{end}": value})
                beside &= Q(sign(Unindexed(F(field), output_field=SCORE), Value(value, output_field=SCORE)))
        if within:
            yield Condition(
                within, within if ordered_by == field else beside, order=field, index=(f"-{field}", "-id")
            )


def _between_dates(project: Project, filters: RunFilters, ordered_by: str) -> Q:
    """Dates; and numbers, by which the list of the newest begins and ends where they do."""
    within, made_at = Q(), Unindexed(F("created_at"), output_field=DateTimeField())
    number = F("pk") if ordered_by == "id" else Unindexed(F("pk"), output_field=BigAutoField())
    numbers = Run.objects.filter(project=project).order_by("created_at").values_list("pk", flat=True)
    if filters.since is not None:
        start = midnight(filters.since)
        first = numbers.filter(created_at__gte=start).first()
        if first is None:
            return NONE
        within &= Q(GreaterThanOrEqual(made_at, Value(start)))
        within &= Q(GreaterThanOrEqual(number, first - OUT_OF_STEP))
    if filters.until is not None:
        end = midnight(filters.until + timedelta(days=1))
        last = numbers.filter(created_at__lt=end).last()
        if last is None:
            return NONE
        within &= Q(LessThan(made_at, Value(end)))
        within &= Q(LessThanOrEqual(number, last + OUT_OF_STEP))
    return within


def midnight(day: date) -> datetime:
    """The day's first moment where the reader is."""
    return timezone.make_aware(datetime.combine(day, time()))
