"""Share links: one run, visible without an account."""

from datetime import datetime
from typing import Literal

from django.http import HttpRequest
from django.urls import reverse
from ninja import Field, Query, Router, Schema

from refinement.access.objects import run_or_404
from refinement.access.public_links import public_link
from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.forms.projects.sharing import NOTE_CHARS
from refinement.models import ShareLink
from refinement.services.runs.shares import (
    OFF,
    TOO_MANY,
    SharingOff,
    TooManyLinks,
    share_link_make,
    share_link_revoke,
)

router = Router(tags=["Share links"])


class ShareNew(Schema):
    """What visitors can see, and for how long."""

    days: Literal[1, 7, 30, 90] = 7
    show_prompts: bool = Field(False, description="Model calls with their full texts.")
    show_comments: bool = Field(False, description="Comments, with their authors' names.")
    note: str = Field("", max_length=NOTE_CHARS, description="Who it is for; visible to members only.")


class ShareShape(Schema):
    """A link in a list; the link itself is not stored."""

    id: int
    run: int
    prefix: str = Field(description="The start of its token.")
    state: str = Field(description="open, expired or revoked.", examples=["open"])
    note: str
    show_prompts: bool
    show_comments: bool
    created_by: str | None
    created_at: datetime
    expires_at: datetime
    opened: int = Field(description="Number of visits.")
    last_opened_at: datetime | None


class ShareMade(ShareShape):
    """A new link, returned once."""

    link: str | None = Field(description="Null when the response is repeated.")


@router.get("/runs/{int:run}/shares", response=Page[ShareShape])
@member("editor")
def share_list(request: ApiRequest, run: int, paging: Query[Paging]) -> Page[ShareShape]:
    """List a run's share links. Newest first."""
    rows = ShareLink.objects.filter(run=run_or_404(request, run, whole=False)).select_related("created_by")
    found, following = page_by_number(rows, paging)
    return Page[ShareShape].of([share_shape(row) for row in found], following)


@router.post("/runs/{int:run}/shares", response={201: ShareMade})
@member("editor")
@creates(shown_once="link")
def share_new(request: ApiRequest, run: int, body: ShareNew) -> ShareMade:
    """Create a share link. 409 if the project does not allow sharing."""
    found = run_or_404(request, run, whole=False)
    try:
        row, token = share_link_make(run=found, by=request.user, **body.model_dump())
    except SharingOff:
        raise Refused(409, OFF, "sharing_off") from None
    except TooManyLinks:
        raise Refused(409, TOO_MANY, "too_many") from None
    return ShareMade(**share_shape(row).model_dump(), link=address_of(request, token))


@router.post("/shares/{int:share}/revoke", response=ShareShape)
@member("editor")
def share_revoked(request: ApiRequest, share: int) -> ShareShape:
    """Revoke a share link. 409 if it no longer works."""
    row, worked = share_link_revoke(project=request.project, number=share, by=request.user)
    if not worked:
        raise Refused(409, "The link had already expired or been revoked.", "closed")
    row.refresh_from_db()
    return share_shape(row)


def address_of(request: HttpRequest, token: str) -> str:
    return public_link(request, reverse("shared_run", args=[token]))


def share_shape(row: ShareLink) -> ShareShape:
    same = ("prefix", "state", "note", "show_prompts", "show_comments", "created_at", "expires_at", "opened")
    return ShareShape(
        id=row.pk,
        run=row.run_id,
        created_by=row.created_by.display_name if row.created_by else None,
        last_opened_at=row.last_opened_at,
        **{name: getattr(row, name) for name in same},
    )
