"""Suites: list, create, get, save, versions, tasks, tasks from runs, restore, archive."""

from django.db import transaction
from django.http import HttpResponse
from ninja import Field, Query, Router

from refinement.access.objects import suite_or_404, suite_task_or_404, suite_version_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, changed_meanwhile, require_match, tagged
from refinement.api.core.idempotency import creates
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.suites.shapes import (
    RunsAdd,
    RunsAdded,
    SuiteLine,
    SuiteNew,
    SuiteRestore,
    SuiteSave,
    SuiteShape,
    SuiteVersionLine,
    TaskQuery,
    TaskShape,
    author,
    made,
    suite_shape,
    suite_tag,
    task_shape,
    tasks_sent,
)
from refinement.models import Suite, SuiteVersion
from refinement.selectors.suites.lists import suites_found, suites_listed, versions_of
from refinement.selectors.suites.tasks import task_text
from refinement.services.suites.collecting import runs_add
from refinement.services.suites.editing import (
    NewerVersion,
    suite_archive,
    suite_create,
    suite_rename,
    suite_restore,
    version_save,
)

router = Router(tags=["Suites"])
BY_API = "Saved by the API."


class SuiteQuery(Paging):
    """Filters of suites."""

    q: str = Field("", max_length=200, description="Searches name, slug and description.")
    archived: bool = False


class TaskPaging(TaskQuery, Paging):
    """A version's tasks."""


@router.get("/suites", response=Page[SuiteLine])
@member()
def suite_list(request: ApiRequest, query: Query[SuiteQuery]) -> Page[SuiteLine]:
    """List the project's suites. In order of creation."""
    words = query.q.replace("\x00", " ").strip()
    rows = suites_found(request.project, query=words, archived=query.archived)
    shown, following = page_by_number(rows, query, newest_first=False, key="suite_id")
    lines = [
        SuiteLine(
            slug=entry.version.suite.slug,
            name=entry.version.suite.name,
            description=entry.description,
            version=entry.version.number,
            tasks=entry.version.task_count,
            experiments=entry.experiments,
            last_experiment=entry.last.pk if entry.last else None,
            saved_at=entry.version.created_at,
            saved_by=author(entry.version),
            archived_at=entry.version.suite.archived_at,
        )
        for entry in suites_listed(shown)
    ]
    return Page[SuiteLine].of(lines, following)


@router.post("/suites", response={201: SuiteShape})
@member("editor")
@creates()
def suite_new(request: ApiRequest, body: SuiteNew) -> SuiteShape:
    """Create a suite. It may have no tasks yet."""
    version = suite_create(
        project=request.project,
        name=body.name,
        description=body.description,
        tasks=tasks_sent(body.tasks),
        user=request.user,
        note=body.note or "Created by the API.",
    )
    return made(request, version)


@router.get("/suites/{suite}", response=SuiteShape)
@member()
def suite_read(request: ApiRequest, response: HttpResponse, suite: str) -> SuiteShape:
    """Get a suite's newest version.

    Send its `ETag` as `If-Match` with a change.
    """
    version = suite_version_or_404(suite_or_404(request, suite))
    tagged(response, suite_tag(version))
    return suite_shape(version)


@router.put("/suites/{suite}", response=SuiteShape)
@member("editor")
def suite_save(
    request: ApiRequest, response: HttpResponse, suite: str, body: SuiteSave, if_match: str = IF_MATCH
) -> SuiteShape:
    """Save a new version. Requires the `ETag` you read; identical tasks are not saved again."""
    row = suite_or_404(request, suite)
    newest = suite_version_or_404(row)
    require_match(request, suite_tag(newest))
    try:
        version = saved(request, row, newest, body)
    except NewerVersion:
        raise changed_meanwhile(suite_tag(suite_version_or_404(row))) from None
    version.suite = row
    tagged(response, suite_tag(version))
    return suite_shape(version)


@transaction.atomic
def saved(request: ApiRequest, row: Suite, newest: SuiteVersion, body: SuiteSave) -> SuiteVersion:
    """The version with the body's tasks; the name and description are the suite's own."""
    version = None
    if body.tasks is not None:
        version = version_save(
            suite=row,
            tasks=tasks_sent(body.tasks),
            edited_from=newest.number,
            user=request.user,
            note=body.note or BY_API,
        )
    name = row.name if body.name is None else body.name
    description = row.description if body.description is None else body.description
    suite_rename(suite=row, name=name, description=description, user=request.user)
    return version or newest


@router.get("/suites/{suite}/versions", response=Page[SuiteVersionLine])
@member()
def suite_version_list(request: ApiRequest, suite: str, paging: Query[Paging]) -> Page[SuiteVersionLine]:
    """List a suite's versions. Newest first."""
    rows = versions_of(suite_or_404(request, suite))
    shown, following = page_by_number(rows, paging, key="number")
    lines = [
        SuiteVersionLine(
            number=row.number,
            note=row.note,
            tasks=row.task_count,
            experiments=row.experiments_count,  # type: ignore[attr-defined]
            saved_at=row.created_at,
            saved_by=author(row),
        )
        for row in shown
    ]
    return Page[SuiteVersionLine].of(lines, following)


@router.get("/suites/{suite}/versions/{int:number}", response=SuiteShape)
@member()
def suite_version_read(request: ApiRequest, suite: str, number: int) -> SuiteShape:
    """Get a suite version. Versions never change."""
    row = suite_or_404(request, suite)
    return suite_shape(suite_version_or_404(row, number), suite_version_or_404(row).number)


@router.get("/suites/{suite}/tasks", response=Page[TaskShape])
@member()
def suite_task_list(request: ApiRequest, suite: str, query: Query[TaskPaging]) -> Page[TaskShape]:
    """List a version's tasks with all texts. In their order."""
    version = suite_version_or_404(suite_or_404(request, suite), query.version)
    shown, following = page_by_number(version.tasks.all(), query, newest_first=False, key="position")
    lines = [task_shape(task_text(row), row.position, row.from_run_id) for row in shown]
    return Page[TaskShape].of(lines, following)


@router.get("/suites/{suite}/tasks/{key}", response=TaskShape)
@member()
def suite_task_read(request: ApiRequest, suite: str, key: str, query: Query[TaskQuery]) -> TaskShape:
    """Get a task."""
    version = suite_version_or_404(suite_or_404(request, suite), query.version)
    row = suite_task_or_404(version, key)
    return task_shape(task_text(row), row.position, row.from_run_id)


@router.post("/suites/{suite}/runs", response=RunsAdded)
@member("editor")
def suite_runs_added(request: ApiRequest, suite: str, body: RunsAdd) -> RunsAdded:
    """Add a task for each run at the end. A run whose task is in the suite already is not added again."""
    row = suite_or_404(request, suite)
    result = runs_add(suite=row, numbers=body.runs, user=request.user)
    version = result.version or suite_version_or_404(row)
    return RunsAdded(suite=suite_shape(version), added=result.keys, refused=result.refused)


@router.post("/suites/{suite}/restore", response=SuiteShape)
@member("editor")
def suite_restored(
    request: ApiRequest, response: HttpResponse, suite: str, body: SuiteRestore, if_match: str = IF_MATCH
) -> SuiteShape:
    """Restore an earlier version as the newest."""
    row = suite_or_404(request, suite)
    newest = suite_version_or_404(row)
    require_match(request, suite_tag(newest))
    suite_version_or_404(row, body.version)
    try:
        saved = suite_restore(suite=row, number=body.version, edited_from=newest.number, user=request.user)
    except NewerVersion:
        raise changed_meanwhile(suite_tag(suite_version_or_404(row))) from None
    version = saved or newest
    tagged(response, suite_tag(version))
    return suite_shape(version)


@router.post("/suites/{suite}/archive", response=SuiteShape)
@member("editor")
def suite_archived(request: ApiRequest, suite: str) -> SuiteShape:
    """Archive a suite. Its experiments stay."""
    return put_away(request, suite_or_404(request, suite), archived=True)


@router.post("/suites/{suite}/unarchive", response=SuiteShape)
@member("editor")
def suite_unarchived(request: ApiRequest, suite: str) -> SuiteShape:
    """Unarchive a suite."""
    return put_away(request, suite_or_404(request, suite), archived=False)


def put_away(request: ApiRequest, row: Suite, *, archived: bool) -> SuiteShape:
    suite_archive(suite=row, user=request.user, archived=archived)
    return suite_shape(suite_version_or_404(row))
