"""A project's rubrics, their versions and their runs. Every list is bounded."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.core.paginator import Page, Paginator
from django.db.models import CharField, Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Lower, Substr

from refinement.engine.kinds import JudgeMode
from refinement.engine.types import Outcome
from refinement.models import Check, Criterion, Project, Rubric, RubricVersion, Run
from refinement.selectors.reviews.blindness import shown_runs, without_hidden
from refinement.selectors.score_words import DECIMALS_OF_RUN

PAGE_SIZE = 25
VERSIONS_PAGE_SIZE = 50
RECENT_RUNS = 10
# Counts are capped, and results come from the project's latest runs only, so large projects list as fast as
# new ones.
MOST_COUNTED = 1_000
LATEST_RUNS = 500
PURPOSE_CHARS = 240


class CappedCount(Subquery):
    """Counts the rows of a subquery that has a limit."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS capped)"
    output_field = IntegerField()


@dataclass(slots=True)
class Results:
    """Results of a rubric's runs among the project's latest."""

    at: datetime  # when the newest of them started
    finished: int = 0
    passed: int = 0

    @property
    def pass_percent(self) -> int | None:
        return round(100 * self.passed / self.finished) if self.finished else None


@dataclass(slots=True)
class ListedRubric:
    """A list row: the rubric, its newest version without texts, and its results."""

    version: RubricVersion
    purpose: str
    criteria: int
    checks: int
    runs: int
    results: Results | None = field(default=None)
    decimals: int | None = None  # of its composites
    judges: str = JudgeMode.SINGLE  # who judges

    @property
    def runs_words(self) -> str:
        return count_label(self.runs)


def count_label(count: int) -> str:
    """The count, or "at least" the cap."""
    return f"{MOST_COUNTED:,}+" if count >= MOST_COUNTED else f"{count:,}"


def rubrics_page(
    project: Project, *, query: str = "", archived: bool = False, page: str | int = 1
) -> tuple[Page[RubricVersion], list[ListedRubric]]:
    """A page of the project's rubrics by name: active or archived ones."""
    found = rubrics_found(project, query=query, archived=archived)
    pages: Paginator[RubricVersion] = Paginator(found, PAGE_SIZE)
    chosen = pages.get_page(page)
    return chosen, rubrics_listed(project, chosen.object_list)


def rubrics_found(project: Project, *, query: str = "", archived: bool = False) -> QuerySet[RubricVersion]:
    """The newest version of each matching rubric, by name."""
    found = _newest_versions(project).filter(rubric__archived_at__isnull=not archived)
    if not query:
        return found
    return found.filter(
        Q(name__icontains=query) | Q(rubric__slug__icontains=query) | Q(purpose__icontains=query)
    )


def rubrics_listed(project: Project, rows: Iterable[RubricVersion]) -> list[ListedRubric]:
    """These versions as list rows."""
    results = latest_results(project)
    return [_listed(row, results) for row in rows]


def archived_count(project: Project) -> int:
    return project.rubrics.filter(archived_at__isnull=False).count()


def _newest_versions(project: Project) -> QuerySet[RubricVersion]:
    newer = RubricVersion.objects.filter(rubric=OuterRef("rubric"), number__gt=OuterRef("number"))
    runs = Run.objects.filter(rubric_version__rubric=OuterRef("rubric")).order_by().values("pk")
    return (
        RubricVersion.objects.filter(~Exists(newer), rubric__project=project)
        .select_related("rubric", "created_by")
        .only(
            *("number", "name", "profile", "artifact_type", "created_at"),
            *("rubric__slug", "rubric__archived_at", "created_by__name", "created_by__email"),
        )
        .annotate(
            purpose_start=Substr("purpose", 1, PURPOSE_CHARS + 1, output_field=CharField()),
            criteria_count=_rows_of(Criterion.objects.filter(version=OuterRef("pk")).values("version")),
            checks_count=_rows_of(Check.objects.filter(version=OuterRef("pk")).values("version")),
            runs_count=CappedCount(runs[:MOST_COUNTED]),
            decimals=F("policy__composite_decimals"),
            judge_mode=F("judges__mode"),
        )
        .order_by(Lower("name"), "rubric_id")
    )


def _rows_of(rows: "QuerySet[Criterion, object] | QuerySet[Check, object]") -> Coalesce:
    return Coalesce(Subquery(rows.order_by().annotate(rows=Count("pk")).values("rows")), 0)


def _listed(row: RubricVersion, results: dict[int, Results]) -> ListedRubric:
    start: str = row.purpose_start  # type: ignore[attr-defined]
    return ListedRubric(
        version=row,
        purpose=start if len(start) <= PURPOSE_CHARS else f"{start[: PURPOSE_CHARS - 1]}…",
        criteria=row.criteria_count,  # type: ignore[attr-defined]
        checks=row.checks_count,  # type: ignore[attr-defined]
        runs=row.runs_count,  # type: ignore[attr-defined]
        results=results.get(row.rubric_id),
        decimals=row.decimals,  # type: ignore[attr-defined]
        judges=row.judge_mode or JudgeMode.SINGLE,  # type: ignore[attr-defined]
    )


def latest_results(project: Project) -> dict[int, Results]:
    """Results of the project's latest runs by rubric."""
    rows = shown_runs(project).order_by("-id").values_list("rubric_version__rubric", "outcome", "created_at")
    return _gathered(rows[:LATEST_RUNS])


def _gathered(rows: Iterable[tuple[int, str | None, datetime]]) -> dict[int, Results]:
    results: dict[int, Results] = {}
    for rubric, outcome, at in rows:
        entry = results.setdefault(rubric, Results(at))
        # Cancelled and failed runs say nothing about the text, so the share counts judged runs only.
        if outcome in (Outcome.PASS, Outcome.FAIL):
            entry.finished += 1
            entry.passed += outcome == Outcome.PASS
    return results


def versions_page(rubric: Rubric, page: str | int = 1) -> Page[RubricVersion]:
    """A page of the rubric's versions."""
    pages: Paginator[RubricVersion] = Paginator(versions_of(rubric), VERSIONS_PAGE_SIZE)
    return pages.get_page(page)


def versions_of(rubric: Rubric) -> QuerySet[RubricVersion]:
    """The rubric's versions, newest first, each with `runs_count`; without their texts."""
    runs = Run.objects.filter(rubric_version=OuterRef("pk")).order_by().values("pk")
    return (
        rubric.versions.select_related("created_by")
        .only("rubric", "number", "note", "name", "created_at", "created_by__name", "created_by__email")
        .annotate(runs_count=CappedCount(runs[:MOST_COUNTED]))
        .order_by("-number")
    )


def recent_runs(rubric: Rubric, version: RubricVersion | None = None) -> list[Run]:
    """The latest runs with this rubric or version, without their texts."""
    used = without_hidden(Run.objects.filter(rubric_version=version) if version else _runs_of(rubric))
    # Keys first: the index covers them. Sorting whole rows would read every run of the rubric.
    keys = list(used.order_by("-id").values_list("pk", flat=True)[:RECENT_RUNS])
    return list(
        Run.objects.filter(pk__in=keys)
        .select_related("rubric_version", "created_by")
        .only(
            *(
                "title",
                "status",
                "outcome",
                "stop_reason",
                "best",
                "rounds_judged",
                "created_at",
                "judge_model",
            ),
            *("producer_model", "rubric_version__number", "created_by__name", "created_by__email"),
        )
        .annotate(task_start=Substr("task", 1, 121, output_field=CharField()), decimals=DECIMALS_OF_RUN)
        .order_by("-id")
    )


def _runs_of(rubric: Rubric) -> QuerySet[Run]:
    return Run.objects.filter(rubric_version__in=rubric.versions.order_by().values("pk"))
