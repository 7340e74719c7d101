"""Projects of the current user or token, and their settings."""

from datetime import datetime
from decimal import Decimal

from django.http import HttpResponse
from ninja import Field, Query, Router, Schema

from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, changed_meanwhile, etag, require_match, tagged
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import limited, member
from refinement.api.runs.shapes import exact
from refinement.models import Membership, Project
from refinement.selectors.projects.lists import memberships_of
from refinement.services.projects.settings import (
    SETTINGS,
    SettingsChanged,
    project_settings_change,
    settings_mark,
)

router = Router(tags=["Projects"])
NULLABLE = ("monthly_cost", "monthly_tokens", "gate_labels", "gate_kappa")


class ProjectLine(Schema):
    """A project and your role in it."""

    slug: str = Field(examples=["alpha"])
    name: str = Field(examples=["Alpha"])
    role: str = Field(description="The lower of yours and the token's.", examples=["editor"])
    created_at: datetime


class ProjectSettings(ProjectLine):
    """A project with its settings."""

    blind_scores: bool = Field(description="Members score before they see others' scores.")
    sharing: bool = Field(description="Runs can be shared with people without an account.")
    monthly_cost: str | None = Field(description="The budget of a month; null for no limit.", examples=["50"])
    monthly_tokens: int | None = Field(description="The same in tokens.", examples=[5_000_000])
    gate_labels: int | None = Field(
        description="Labels that a judge needs before its PASS counts in gates; null for no rule.",
        examples=[100],
    )
    gate_kappa: str | None = Field(description="Its minimum agreement with people.", examples=["0.6"])
    gate_like_people: bool = Field(
        description="It must agree with people as well as they agree with each other."
    )


class SettingsChange(Schema):
    """Settings to change; omitted ones stay. A budget of null is no limit, a gate of null no rule."""

    name: str | None = Field(None, min_length=1, max_length=120)
    blind_scores: bool | None = None
    sharing: bool | None = None
    monthly_cost: Decimal | None = Field(None, gt=0, max_digits=12, decimal_places=2)
    monthly_tokens: int | None = Field(None, ge=1, le=10**15)
    gate_labels: int | None = Field(None, ge=1, le=1_000_000)
    gate_kappa: Decimal | None = Field(None, ge=-1, le=1, max_digits=4, decimal_places=3)
    gate_like_people: bool | None = None


@router.get("", response=Page[ProjectLine])
def project_list(request: ApiRequest, paging: Query[Paging]) -> Page[ProjectLine]:
    """List your projects. In the order you joined; for a token, its own."""
    rows = memberships_of(request.user)
    if request.token:
        rows = rows.filter(project=request.token.project_id)
    found, following = page_by_number(rows, paging, newest_first=False)
    return Page[ProjectLine].of([line(limited(request, entry)) for entry in found], following)


@router.get("/{slug}", response=ProjectSettings)
@member()
def project_read(request: ApiRequest, response: HttpResponse) -> ProjectSettings:
    """Get a project and its settings."""
    tagged(response, settings_tag(request.project))
    return shown(request)


@router.patch("/{slug}", response=ProjectSettings)
@member("owner")
def project_change(
    request: ApiRequest, response: HttpResponse, body: SettingsChange, if_match: str = IF_MATCH
) -> ProjectSettings:
    """Change project settings. Requires the `ETag` you read."""
    project = request.project
    require_match(request, settings_tag(project))
    given = {
        name: value
        for name, value in body.model_dump(exclude_unset=True).items()
        if value is not None or name in NULLABLE
    }
    now = {name: getattr(project, name) for name in SETTINGS}
    try:
        project_settings_change(
            project=project, by=request.user, seen=settings_mark(project), **{**now, **given}
        )
    except SettingsChanged as changed:
        raise changed_meanwhile(settings_tag(changed.project)) from None
    project.refresh_from_db()
    tagged(response, settings_tag(project))
    return shown(request)


def settings_tag(project: Project) -> str:
    return etag("settings", settings_mark(project))


def line(membership: Membership) -> ProjectLine:
    project = membership.project
    return ProjectLine(
        slug=project.slug, name=project.name, role=membership.role, created_at=project.created_at
    )


def shown(request: ApiRequest) -> ProjectSettings:
    project = request.project
    return ProjectSettings(
        **line(request.membership).model_dump(),
        blind_scores=project.blind_scores,
        sharing=project.sharing,
        monthly_cost=exact(project.monthly_cost),
        monthly_tokens=project.monthly_tokens,
        gate_labels=project.gate_labels,
        gate_kappa=exact(project.gate_kappa),
        gate_like_people=project.gate_like_people,
    )
