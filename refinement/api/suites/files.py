"""Suites as files: export in each format; create from a file, or import into a suite after a dry run."""

from typing import Any

from django.db import transaction
from django.http import Http404, HttpResponse
from ninja import Query, Router

from refinement.access.objects import suite_or_404, suite_version_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, changed_meanwhile, require_match, tagged
from refinement.api.core.idempotency import creates
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.api.suites.shapes import (
    FileQuery,
    ImportQuery,
    ImportResult,
    NewFileQuery,
    SuiteShape,
    TaskQuery,
    made,
    suite_shape,
    suite_tag,
)
from refinement.interchange.suites.merging import changes_between
from refinement.interchange.suites.types import MAX_BYTES
from refinement.interchange.suites.writing import FORMS, MEDIA_TYPES
from refinement.selectors.suites.tasks import suite_text, tasks_of
from refinement.services.suites.editing import NewerVersion
from refinement.services.suites.importing import (
    FileRead,
    file_read,
    suite_import,
    tasks_after,
    version_import,
)

router = Router(tags=["Suites"])
BODY = {"schema": {"type": "string", "description": "The file, in UTF-8."}}
TAKES_A_FILE: dict[str, Any] = {
    "requestBody": {"content": {"application/octet-stream": BODY}, "required": True}
}
GIVES_A_FILE: dict[str, Any] = {
    "responses": {200: {"description": "The file.", "content": {"*/*": {"schema": {}}}}}
}


@router.post("/suite-files", response={201: SuiteShape}, openapi_extra=TAKES_A_FILE)
@member("editor")
@creates()
def suite_file_new(request: ApiRequest, given: Query[NewFileQuery]) -> SuiteShape:
    """Create a suite from a file. Errors are listed by line."""
    version = suite_import(
        project=request.project,
        read=file_sent(request, given),
        name=given.name,
        slug=given.slug,
        note=given.note,
        user=request.user,
    )
    return made(request, version)


@router.get("/suites/{suite}/export/{form}", openapi_extra=GIVES_A_FILE)
@member()
def suite_export(request: ApiRequest, suite: str, form: str, wanted: Query[TaskQuery]) -> HttpResponse:
    """Get a version as `yaml`, `csv` or `jsonl`. The same suite always gives the same bytes."""
    if form not in FORMS:
        raise Http404("Suites are exported as yaml, csv or jsonl.")
    version = suite_version_or_404(suite_or_404(request, suite), wanted.version)
    text = "".join(FORMS[form](suite_text(version)))
    answer = HttpResponse(text, content_type=f"{MEDIA_TYPES[form]}; charset=utf-8")
    tagged(answer, suite_tag(version))
    return answer


@router.post("/suites/{suite}/import", response=ImportResult, openapi_extra=TAKES_A_FILE)
@member("editor")
def suite_file_import(
    request: ApiRequest,
    response: HttpResponse,
    suite: str,
    given: Query[ImportQuery],
    if_match: str = IF_MATCH,
) -> ImportResult:
    """Import a file into a suite as its next version, or preview the changes."""
    row = suite_or_404(request, suite)
    newest = suite_version_or_404(row)
    if not given.dry_run:
        require_match(request, suite_tag(newest))
    read = file_sent(request, given)
    before = tasks_of(newest)
    after = tasks_after(before, read, given.mode)
    version = newest
    if not given.dry_run:
        try:
            with transaction.atomic():
                saved = version_import(
                    suite=row,
                    tasks=after,
                    read=read,
                    edited_from=newest.number,
                    user=request.user,
                    note=given.note,
                )
        except NewerVersion:
            raise changed_meanwhile(suite_tag(suite_version_or_404(row))) from None
        version = saved or newest
        version.suite = row
    tagged(response, suite_tag(version))
    changes = changes_between(before, after)
    return ImportResult(
        dry_run=given.dry_run,
        format=read.kind,
        added=[task.key for task in changes.added],
        changed=[task.key for _, task in changes.changed],
        removed=[task.key for task in changes.removed],
        unchanged=changes.unchanged,
        notes=list(read.notes),
        suite=suite_shape(version),
    )


def file_sent(request: ApiRequest, given: FileQuery) -> FileRead:
    """The file in the request's body. Raises BadFile."""
    body = request.body
    if len(body) > MAX_BYTES:
        raise Refused(413, f"The file is larger than {MAX_BYTES:,} bytes.", "too_large")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(400, "The file is not UTF-8 text.", "not_text") from None
    return file_read(text, given.format)
