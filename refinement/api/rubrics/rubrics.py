"""Rubrics: list, get, create, save, restore, duplicate, archive."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.urls import reverse
from ninja import Field, Query, Router, Schema

from refinement.access.objects import can_edit, rubric_or_404, version_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, changed_meanwhile, etag, require_match, tagged
from refinement.api.core.idempotency import creates, made_at
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member, membership_of
from refinement.engine.artifacts import ARTIFACT_TYPES
from refinement.engine.panels import PANELS
from refinement.engine.profiles import PROFILES
from refinement.engine.types import Rubric as Definition
from refinement.interchange.rubrics.yaml import rubric_from_fields, rubric_to_fields
from refinement.models import Rubric, RubricVersion
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.gallery import artifact_cards, preset_rubric, profile_cards
from refinement.selectors.rubrics.lists import rubrics_found, rubrics_listed, versions_of
from refinement.services.rubrics.editing import (
    NAME_LENGTH,
    NewerVersion,
    rubric_archive,
    rubric_create,
    rubric_duplicate,
    rubric_restore,
    rubric_slug_for,
)
from refinement.services.rubrics.files import NothingNew, version_import

router = Router(tags=["Rubrics"])
LARGEST_NUMBER = 2**31 - 1
NOTE_CHARS = 400


class RubricLine(Schema):
    """A rubric in a list, with its newest version's data."""

    slug: str = Field(examples=["wiggum"])
    name: str = Field(examples=["Wiggum"])
    version: int = Field(examples=[3])
    profile: str = Field(examples=["wiggum"])
    artifact_type: str
    purpose: str = Field(description="The start of the purpose.")
    criteria: int
    checks: int
    judges: str = Field(description="Who judges: single, board or auto.", examples=["board"])
    runs: int = Field(description="Number of runs; counted up to 1,000.")
    saved_at: datetime
    saved_by: str
    archived_at: datetime | None


class VersionLine(Schema):
    """A rubric version, without its definition."""

    number: int
    name: str
    note: str
    runs: int = Field(description="Number of runs; counted up to 1,000.")
    saved_at: datetime
    saved_by: str


class VersionShape(Schema):
    """A rubric version with its definition."""

    slug: str
    version: int
    newest: int
    name: str
    note: str
    saved_at: datetime
    saved_by: str
    archived_at: datetime | None
    definition: dict[str, Any] = Field(description="The content of the rubric's YAML file, as JSON.")


class RubricNew(Schema):
    """A new rubric: from the gallery (profile and artifact) or from a definition."""

    name: str = Field("", max_length=NAME_LENGTH, description="With a profile.", examples=["House style"])
    profile: str = Field("", max_length=20, description=", ".join(PROFILES), examples=["wiggum"])
    artifact: str = Field("document", max_length=40, description=", ".join(ARTIFACT_TYPES))
    definition: dict[str, Any] | None = Field(None, description="As in a version's `definition`.")
    note: str = Field("", max_length=NOTE_CHARS)


class RubricSave(Schema):
    """The rubric's new definition."""

    definition: dict[str, Any]
    note: str = Field("", max_length=NOTE_CHARS, examples=["Weighs depth more."])


class Restore(Schema):
    """The version to restore."""

    version: int = Field(ge=1, le=LARGEST_NUMBER, examples=[1])


class Duplicate(Schema):
    """A copy's name and project."""

    name: str = Field(min_length=1, max_length=NAME_LENGTH, examples=["Copy of Wiggum"])
    version: int | None = Field(None, ge=1, le=LARGEST_NUMBER)
    project: str = Field("", max_length=60, description="Another of your projects; not available to tokens.")


class RubricQuery(Paging):
    """Filters of rubrics."""

    q: str = Field("", max_length=200, description="Searches name, slug and purpose.")
    archived: bool = False


class Card(Schema):
    """A starting point for a rubric."""

    key: str
    title: str
    paragraph: str


class PanelSeat(Schema):
    """A judge of a panel: a name, and how it looks at the work."""

    name: str = Field(examples=["First-time reader"])
    lens: str


class Gallery(Schema):
    """Profiles and kinds of work; a new rubric uses one of each. Panels are for boards, by kind of work."""

    profiles: list[Card]
    artifacts: list[Card]
    panels: dict[str, list[PanelSeat]] = Field(description="For `judges.panel` of a definition.")


@router.get("/rubrics", response=Page[RubricLine])
@member()
def rubric_list(request: ApiRequest, query: Query[RubricQuery]) -> Page[RubricLine]:
    """List the project's rubrics. In order of creation."""
    words = query.q.replace("\x00", " ").strip()
    rows = rubrics_found(request.project, query=words, archived=query.archived)
    shown, following = page_by_number(rows, query, newest_first=False, key="rubric_id")
    lines = [
        RubricLine(
            slug=entry.version.rubric.slug,
            name=entry.version.name,
            version=entry.version.number,
            profile=entry.version.profile,
            artifact_type=entry.version.artifact_type,
            purpose=entry.purpose,
            criteria=entry.criteria,
            checks=entry.checks,
            judges=entry.judges,
            runs=entry.runs,
            saved_at=entry.version.created_at,
            saved_by=author(entry.version),
            archived_at=entry.version.rubric.archived_at,
        )
        for entry in rubrics_listed(request.project, shown)
    ]
    return Page[RubricLine].of(lines, following)


@router.get("/rubric-gallery", response=Gallery)
@member()
def gallery_read(request: ApiRequest) -> Gallery:
    """List starting points for new rubrics."""
    cards = [
        [Card(key=card.key, title=card.title, paragraph=card.paragraph) for card in kind]
        for kind in (profile_cards(), artifact_cards())
    ]
    panels = {
        artifact: [PanelSeat(name=judge.name, lens=judge.lens) for judge in panel]
        for artifact, panel in PANELS.items()
    }
    return Gallery(profiles=cards[0], artifacts=cards[1], panels=panels)


@router.post("/rubrics", response={201: VersionShape})
@member("editor")
@creates()
def rubric_new(request: ApiRequest, body: RubricNew) -> VersionShape:
    """Create a rubric from the gallery or a definition."""
    definition = definition_wanted(body)
    version = rubric_create(
        project=request.project,
        slug=rubric_slug_for(request.project, definition.name),
        definition=definition,
        user=request.user,
        note=body.note or "Created by the API.",
    )
    return made(request, version)


def definition_wanted(body: RubricNew) -> Definition:
    if body.definition is not None:
        return rubric_from_fields(body.definition)
    wrong = {}
    if not body.name.strip():
        wrong["name"] = "Enter a name, or send a definition."
    if body.profile not in PROFILES:
        wrong["profile"] = f"Choose one of {', '.join(PROFILES)}, or send a definition."
    if body.artifact not in ARTIFACT_TYPES:
        wrong["artifact"] = f"Choose one of {', '.join(ARTIFACT_TYPES)}."
    if wrong:
        raise ValidationError(wrong)
    # Validated like a definition, so a name with invalid characters is rejected here too.
    return rubric_from_fields(rubric_to_fields(preset_rubric(body.profile, body.artifact, body.name.strip())))


@router.get("/rubrics/{rubric}", response=VersionShape)
@member()
def rubric_read(request: ApiRequest, response: HttpResponse, rubric: str) -> VersionShape:
    """Get a rubric's newest version.

    Send its `ETag` as `If-Match` with a change.
    """
    version = version_or_404(rubric_or_404(request, rubric))
    tagged(response, rubric_tag(version))
    return shape(version)


@router.put("/rubrics/{rubric}", response=VersionShape)
@member("editor")
def rubric_save(
    request: ApiRequest, response: HttpResponse, rubric: str, body: RubricSave, if_match: str = IF_MATCH
) -> VersionShape:
    """Save a new version. Requires the `ETag` you read; an identical definition is not saved again."""
    row = rubric_or_404(request, rubric)
    return saved(request, response, row, rubric_from_fields(body.definition), body.note)


def saved(
    request: ApiRequest, response: HttpResponse, row: Rubric, definition: Definition, note: str
) -> VersionShape:
    newest = version_or_404(row)
    require_match(request, rubric_tag(newest))
    try:
        version = version_import(
            rubric=row,
            definition=definition,
            edited_from=newest.number,
            user=request.user,
            note=note or "Saved by the API.",
        )
    except NothingNew:
        version = newest
    except NewerVersion:
        raise changed_meanwhile(rubric_tag(version_or_404(row))) from None
    tagged(response, rubric_tag(version))
    return shape(version)


@router.get("/rubrics/{rubric}/versions", response=Page[VersionLine])
@member()
def version_list(request: ApiRequest, rubric: str, paging: Query[Paging]) -> Page[VersionLine]:
    """List a rubric's versions. Newest first."""
    rows = versions_of(rubric_or_404(request, rubric))
    shown, following = page_by_number(rows, paging, key="number")
    lines = [
        VersionLine(
            number=row.number,
            name=row.name,
            note=row.note,
            runs=row.runs_count,  # type: ignore[attr-defined]
            saved_at=row.created_at,
            saved_by=author(row),
        )
        for row in shown
    ]
    return Page[VersionLine].of(lines, following)


@router.get("/rubrics/{rubric}/versions/{int:number}", response=VersionShape)
@member()
def version_read(request: ApiRequest, rubric: str, number: int) -> VersionShape:
    """Get a rubric version. Versions never change."""
    return shape(version_or_404(rubric_or_404(request, rubric), number))


@router.post("/rubrics/{rubric}/restore", response=VersionShape)
@member("editor")
def rubric_restored(
    request: ApiRequest, response: HttpResponse, rubric: str, body: Restore, if_match: str = IF_MATCH
) -> VersionShape:
    """Restore an earlier version as the newest."""
    row = rubric_or_404(request, rubric)
    newest = version_or_404(row)
    require_match(request, rubric_tag(newest))
    version_or_404(row, body.version)
    version = newest
    if body.version != newest.number:
        try:
            version = rubric_restore(
                rubric=row, number=body.version, edited_from=newest.number, user=request.user
            )
        except NewerVersion:
            raise changed_meanwhile(rubric_tag(version_or_404(row))) from None
    tagged(response, rubric_tag(version))
    return shape(version)


@router.post("/rubrics/{rubric}/duplicate", response={201: VersionShape})
@member("editor")
@creates()
def rubric_duplicated(request: ApiRequest, rubric: str, body: Duplicate) -> VersionShape:
    """Duplicate a rubric version as a new rubric."""
    version = version_or_404(rubric_or_404(request, rubric), body.version)
    name = body.name.replace("\x00", " ").strip()
    if not name:
        raise ValidationError({"name": "Enter a name for the copy."})
    project = request.project
    if body.project and body.project != project.slug:
        request.membership = membership_of(request, body.project)
        project = request.membership.project
        if not can_edit(request):
            raise ValidationError({"project": "Choose a project in which you are an editor or owner."})
    return made(request, rubric_duplicate(version=version, project=project, name=name, user=request.user))


@router.post("/rubrics/{rubric}/archive", response=VersionShape)
@member("editor")
def rubric_archived(request: ApiRequest, rubric: str) -> VersionShape:
    """Archive a rubric. Its runs continue."""
    return put_away(request, rubric, archived=True)


@router.post("/rubrics/{rubric}/unarchive", response=VersionShape)
@member("editor")
def rubric_unarchived(request: ApiRequest, rubric: str) -> VersionShape:
    """Unarchive a rubric."""
    return put_away(request, rubric, archived=False)


def put_away(request: ApiRequest, rubric: str, *, archived: bool) -> VersionShape:
    row = rubric_or_404(request, rubric)
    rubric_archive(rubric=row, user=request.user, archived=archived)
    return shape(version_or_404(row))


def rubric_tag(version: RubricVersion) -> str:
    return etag("rubric", version.rubric_id, version.number, version.rubric.archived_at)


def made(request: ApiRequest, version: RubricVersion) -> VersionShape:
    place = {"slug": version.rubric.project.slug, "rubric": version.rubric.slug}
    made_at(request, reverse("api:rubric_read", kwargs=place), rubric_tag(version))
    return shape(version)


def author(version: RubricVersion) -> str:
    return version.created_by.display_name if version.created_by else ""


def shape(version: RubricVersion) -> VersionShape:
    rubric = version.rubric
    newest = rubric.versions.order_by("-number").values_list("number", flat=True)[0]
    return VersionShape(
        slug=rubric.slug,
        version=version.number,
        newest=newest,
        name=version.name,
        note=version.note,
        saved_at=version.created_at,
        saved_by=author(version),
        archived_at=rubric.archived_at,
        definition=rubric_to_fields(definition_of(version)),
    )
