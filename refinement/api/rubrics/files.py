"""Rubrics as YAML: export for version control, import as a rubric or its next version."""

from typing import Any

from django.http import HttpResponse
from ninja import Field, Query, Router, Schema

from refinement.access.objects import rubric_or_404, version_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, tagged
from refinement.api.core.idempotency import creates
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.api.rubrics.rubrics import (
    LARGEST_NUMBER,
    NOTE_CHARS,
    VersionShape,
    made,
    rubric_tag,
    saved,
)
from refinement.engine.types import Rubric as Definition
from refinement.interchange.rubrics.yaml import MAX_BYTES, rubric_from_yaml, rubric_to_yaml
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.files import rubric_import

router = Router(tags=["Rubrics"])
MEDIA_TYPE = "application/yaml"
FILE = {"content": {MEDIA_TYPE: {"schema": {"type": "string", "description": "The file, in UTF-8."}}}}
TAKES_A_FILE: dict[str, Any] = {"requestBody": {**FILE, "required": True}}
# YAML tools that go by the media type expect an object.
GIVES_A_FILE: dict[str, Any] = {
    "responses": {200: {"description": "The file.", "content": {MEDIA_TYPE: {"schema": {"type": "object"}}}}}
}


class Note(Schema):
    """A note on the version."""

    note: str = Field("", max_length=NOTE_CHARS, examples=["From commit 1a2b3c."])


class NewFile(Note):
    """The slug of a new rubric."""

    slug: str = Field(
        "",
        pattern=r"^[-a-zA-Z0-9_]{0,72}$",
        description="The slug; made from the name by default.",
        examples=["briefs"],
    )


class Version(Schema):
    """The version."""

    version: int | None = Field(None, ge=1, le=LARGEST_NUMBER, description="Defaults to the newest.")


@router.post("/rubric-files", response={201: VersionShape}, openapi_extra=TAKES_A_FILE)
@member("editor")
@creates()
def rubric_file_new(request: ApiRequest, given: Query[NewFile]) -> VersionShape:
    """Create a rubric from a YAML file. Errors are listed by line."""
    version = rubric_import(
        project=request.project,
        definition=file_of(request),
        user=request.user,
        note=given.note,
        slug=given.slug,
    )
    return made(request, version)


@router.get("/rubrics/{rubric}/yaml", openapi_extra=GIVES_A_FILE)
@member()
def rubric_file_read(request: ApiRequest, rubric: str, wanted: Query[Version]) -> HttpResponse:
    """Get a rubric version as a YAML file. The same rubric always gives the same bytes."""
    row = rubric_or_404(request, rubric)
    version = version_or_404(row, wanted.version)
    answer = HttpResponse(rubric_to_yaml(definition_of(version)), content_type=f"{MEDIA_TYPE}; charset=utf-8")
    tagged(answer, rubric_tag(version))
    return answer


@router.put("/rubrics/{rubric}/yaml", response=VersionShape, openapi_extra=TAKES_A_FILE)
@member("editor")
def rubric_file_save(
    request: ApiRequest, response: HttpResponse, rubric: str, given: Query[Note], if_match: str = IF_MATCH
) -> VersionShape:
    """Save a YAML file as the rubric's next version. An identical file is not saved again."""
    row = rubric_or_404(request, rubric)
    return saved(request, response, row, file_of(request), given.note)


def file_of(request: ApiRequest) -> Definition:
    """The file in the request's body."""
    body = request.body
    if len(body) > MAX_BYTES:
        raise Refused(413, f"The file is larger than {MAX_BYTES:,} bytes.", "too_large")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(400, "The file is not UTF-8 text.", "not_text") from None
    return rubric_from_yaml(text)
