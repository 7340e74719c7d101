"""A project's suites, their versions, tasks and experiments. Every list is bounded."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import CharField, Count, Exists, Func, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Length, Lower, Substr

from refinement.models import Experiment, Project, Suite, SuiteTask, SuiteVersion
from refinement.selectors.rubrics.lists import MOST_COUNTED, CappedCount, count_label

PAGE_SIZE = 25
VERSIONS_PAGE_SIZE = 50
TASKS_PAGE_SIZE = 100
RECENT_EXPERIMENTS = 10
DESCRIPTION_CHARS = 240
EXCERPT_CHARS = 300
TYPES_SHOWN = 8


@dataclass(slots=True)
class ListedSuite:
    """A list row: the suite's newest version, and its last experiment."""

    version: SuiteVersion
    description: str
    experiments: int
    last: Experiment | None = None

    @property
    def experiments_words(self) -> str:
        return count_label(self.experiments)


def suites_page(
    project: Project, *, query: str = "", archived: bool = False, page: str | int = 1
) -> tuple[Page[SuiteVersion], list[ListedSuite]]:
    """A page of the project's suites by name: active or archived ones."""
    found = suites_found(project, query=query, archived=archived)
    chosen: Page[SuiteVersion] = Paginator(found, PAGE_SIZE).get_page(page)
    return chosen, suites_listed(chosen.object_list)


def suites_found(project: Project, *, query: str = "", archived: bool = False) -> QuerySet[SuiteVersion]:
    """The newest version of each matching suite, by name."""
    newer = SuiteVersion.objects.filter(suite=OuterRef("suite"), number__gt=OuterRef("number"))
    experiments = Experiment.objects.filter(suite_version__suite=OuterRef("suite")).order_by("-id")
    found = (
        SuiteVersion.objects.filter(~Exists(newer), suite__project=project)
        .filter(suite__archived_at__isnull=not archived)
        .select_related("suite", "created_by")
        .defer("suite__description")
        .annotate(
            description_start=Substr("suite__description", 1, DESCRIPTION_CHARS + 1),
            experiments_count=CappedCount(experiments.values("pk")[:MOST_COUNTED]),
            last_experiment=Subquery(experiments.values("pk")[:1]),
        )
        .order_by(Lower("suite__name"), "suite_id")
    )
    if not query:
        return found
    return found.filter(
        Q(suite__name__icontains=query)
        | Q(suite__slug__icontains=query)
        | Q(suite__description__icontains=query)
    )


def suites_listed(rows: Iterable[SuiteVersion]) -> list[ListedSuite]:
    """These versions as list rows, with their last experiments. One query."""
    versions = list(rows)
    numbers = [row.last_experiment for row in versions]  # type: ignore[attr-defined]
    last = Experiment.objects.defer("note").in_bulk([number for number in numbers if number])
    return [_listed(row, last.get(number)) for row, number in zip(versions, numbers, strict=True)]


def _listed(row: SuiteVersion, last: Experiment | None) -> ListedSuite:
    start: str = row.description_start  # type: ignore[attr-defined]
    return ListedSuite(
        version=row,
        description=start if len(start) <= DESCRIPTION_CHARS else f"{start[: DESCRIPTION_CHARS - 1]}…",
        experiments=row.experiments_count,  # type: ignore[attr-defined]
        last=last,
    )


def archived_count(project: Project) -> int:
    return project.suites.filter(archived_at__isnull=False).count()


def suites_to_choose(project: Project, most: int = 200) -> list[Suite]:
    """The project's active suites by name, for a choice."""
    return list(
        project.suites.filter(archived_at=None).order_by(Lower("name"), "id").defer("description")[:most]
    )


def versions_of(suite: Suite) -> QuerySet[SuiteVersion]:
    """The suite's versions, newest first, each with `experiments_count`."""
    experiments = Experiment.objects.filter(suite_version=OuterRef("pk")).order_by().values("pk")
    return (
        suite.versions.select_related("created_by")
        .annotate(experiments_count=CappedCount(experiments[:MOST_COUNTED]))
        .order_by("-number")
    )


def versions_page(suite: Suite, page: str | int = 1) -> Page[SuiteVersion]:
    pages: Paginator[SuiteVersion] = Paginator(versions_of(suite), VERSIONS_PAGE_SIZE)
    return pages.get_page(page)


def recent_experiments(suite: Suite) -> list[Experiment]:
    """The suite's latest experiments, each with its suite version."""
    found = Experiment.objects.filter(suite_version__suite=suite).order_by("-id")
    return list(found.select_related("suite_version__suite", "created_by").defer("note")[:RECENT_EXPERIMENTS])


@dataclass(frozen=True, slots=True)
class TypeCount:
    """A task type and how many tasks have it."""

    name: str
    tasks: int


def task_types(version: SuiteVersion) -> tuple[list[TypeCount], int]:
    """The most frequent task types of the version, and how many others there are."""
    rows = (
        version.tasks.order_by()
        .values("task_type")
        .annotate(tasks=Count("pk"))
        .order_by("-tasks", "task_type")
    )
    found = [TypeCount(row["task_type"], row["tasks"]) for row in rows]
    return found[:TYPES_SHOWN], max(0, len(found) - TYPES_SHOWN)


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A task in a list, with the start of its text."""

    position: int
    key: str
    title: str
    task_type: str
    tags: list[str]
    excerpt: str
    seed_chars: int
    has_notes: bool
    sources: int
    checks: int
    from_run: int | None

    @property
    def extras(self) -> list[str]:
        """What the task has in addition to its text."""
        words = ["starting text"] if self.seed_chars else []
        counted = ((self.sources, "source"), (self.checks, "check"))
        words += [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counted if count]
        return words


def tasks_page(
    version: SuiteVersion, *, query: str = "", page: str | int = 1
) -> tuple[Page[SuiteTask], list[TaskLine]]:
    """A page of the version's tasks in order, without their long texts."""
    found = task_rows(version, query)
    pages: Paginator[SuiteTask] = Paginator(found, TASKS_PAGE_SIZE)
    chosen = pages.get_page(page)
    return chosen, [task_line(row) for row in chosen.object_list]


def task_rows(version: SuiteVersion, query: str = "") -> QuerySet[SuiteTask]:
    rows = version.tasks.order_by("position")
    if query:
        matching = Q(title__icontains=query) | Q(key__icontains=query) | Q(task__icontains=query)
        rows = rows.filter(matching | Q(task_type__icontains=query))
    return rows.defer("task", "seed", "expected", "sources", "checks").annotate(
        task_start=Substr("task", 1, EXCERPT_CHARS + 1, output_field=CharField()),
        seed_chars=Length("seed"),
        notes_chars=Length("expected"),
        sources_count=EntryCount("sources"),
        checks_count=EntryCount("checks"),
    )


def excerpt_of(start: str, title: str) -> str:
    """The start of a text without the title, which is often its first sentence."""
    text = start if len(start) <= EXCERPT_CHARS else f"{start[:EXCERPT_CHARS]}…"
    rest = text.removeprefix(title)
    return text if rest == text else rest.lstrip(" .:\n")


class EntryCount(Func):
    """The number of entries of a JSON list."""

    function = "jsonb_array_length"
    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="json_array_length", **context)


def task_line(row: SuiteTask) -> TaskLine:
    start: str = row.task_start  # type: ignore[attr-defined]
    return TaskLine(
        position=row.position,
        key=row.key,
        title=row.title,
        task_type=row.task_type,
        tags=row.tags,
        excerpt=excerpt_of(start, row.title),
        seed_chars=row.seed_chars,  # type: ignore[attr-defined]
        has_notes=bool(row.notes_chars),  # type: ignore[attr-defined]
        sources=row.sources_count,  # type: ignore[attr-defined]
        checks=row.checks_count,  # type: ignore[attr-defined]
        from_run=row.from_run_id,
    )
