"""Members and invitations of a project. Leaving is possible on the pages only."""

from datetime import datetime
from typing import Literal

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse
from ninja import Field, Query, Router, Schema, Status

from refinement.access.public_links import public_link
from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, etag, require_match, tagged
from refinement.api.core.idempotency import creates
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.models import Invitation, Membership
from refinement.selectors.projects.lists import NotFound
from refinement.services.people.invitation_mail import invitation_mailed
from refinement.services.people.invitations import invitation_make, invitation_revoke
from refinement.services.people.memberships import LAST_OWNER, LastOwner, member_remove, member_role_change

router = Router(tags=["People"])
Role = Literal["viewer", "editor", "owner"]
NO_MAIL = "This instance does not send email. Omit the address and share the link yourself."


class MemberShape(Schema):
    """A member of the project; other operations use this `id`."""

    id: int
    name: str
    email: str
    role: str
    active: bool = Field(description="False for a deactivated account.")
    since: datetime


class RoleChange(Schema):
    """A member's new role."""

    role: Role


class InvitationNew(Schema):
    """An invitation's role and lifetime."""

    role: Role = "editor"
    days: Literal[1, 7, 30] = Field(7, description="Days until the link expires.")
    email: str = Field("", max_length=254, description="Where to send the link, if the instance sends email.")
    note: str = Field("", max_length=120, description="Who the link is for.")


class InvitationShape(Schema):
    """A link to join the project."""

    id: int
    role: str
    email: str
    note: str
    state: str = Field(description="open, used, revoked or expired.")
    created_by: str | None
    created_at: datetime
    expires_at: datetime
    used_by: str | None


class InvitationMade(InvitationShape):
    """An invitation with its link, which is returned once; null when the response is repeated."""

    link: str | None


@router.get("/members", response=Page[MemberShape])
@member()
def member_list(request: ApiRequest, paging: Query[Paging]) -> Page[MemberShape]:
    """List members."""
    rows = Membership.objects.filter(project=request.project).select_related("user")
    found, following = page_by_number(rows, paging, newest_first=False, key="user_id")
    return Page[MemberShape](items=[member_shape(row) for row in found], next=following)


@router.get("/members/{int:person}", response=MemberShape)
@member()
def member_read(request: ApiRequest, response: HttpResponse, person: int) -> MemberShape:
    """Get a member. Returns an `ETag`."""
    found = member_of(request, person)
    tagged(response, member_tag(found))
    return member_shape(found)


@router.patch("/members/{int:person}", response=MemberShape)
@member("owner")
def member_changed(
    request: ApiRequest, response: HttpResponse, person: int, body: RoleChange, if_match: str = IF_MATCH
) -> MemberShape:
    """Change a member's role."""
    require_match(request, member_tag(member_of(request, person)))
    try:
        member_role_change(project=request.project, user_id=person, role=body.role, by=request.user)
    except LastOwner:
        raise Refused(409, LAST_OWNER, "last_owner") from None
    found = member_of(request, person)
    tagged(response, member_tag(found))
    return member_shape(found)


@router.delete("/members/{int:person}", response={204: None})
@member("owner")
def member_removed(request: ApiRequest, person: int) -> Status[None]:
    """Remove a member. Their work stays."""
    try:
        member_remove(project=request.project, user_id=person, by=request.user)
    except LastOwner:
        raise Refused(409, LAST_OWNER, "last_owner") from None
    return Status(204, None)


@router.get("/invitations", response=Page[InvitationShape])
@member("owner")
def invitation_list(request: ApiRequest, paging: Query[Paging]) -> Page[InvitationShape]:
    """List invitations. Newest first."""
    rows = Invitation.objects.filter(project=request.project).select_related("created_by", "used_by")
    found, following = page_by_number(rows, paging)
    return Page[InvitationShape](items=[invitation_shape(row) for row in found], next=following)


@router.post("/invitations", response={201: InvitationMade})
@member("owner")
@creates(shown_once="link")
def invitation_new(request: ApiRequest, body: InvitationNew) -> InvitationMade:
    """Create an invitation link for one person. The link is returned once."""
    if body.email:
        if not settings.MAIL_CONFIGURED:
            raise ValidationError({"email": NO_MAIL})
        try:
            validate_email(body.email)
        except ValidationError as wrong:
            raise ValidationError({"email": wrong.messages}) from None
    invitation, token = invitation_make(
        project=request.project,
        role=body.role,
        days=body.days,
        by=request.user,
        email=body.email,
        note=body.note,
    )
    link = public_link(request, reverse("join", args=[token]))
    # Mail servers can be slow, so send after the transaction.
    transaction.on_commit(lambda: invitation_mailed(request, invitation, link), robust=True)
    return InvitationMade(**invitation_shape(invitation).model_dump(), link=link)


@router.post("/invitations/{int:invitation}/revoke", response=InvitationShape)
@member("owner")
def invitation_revoked(request: ApiRequest, invitation: int) -> InvitationShape:
    """Revoke an invitation. 409 if it no longer works."""
    if not invitation_revoke(project=request.project, number=invitation, by=request.user):
        raise Refused(409, "The invitation was already used or revoked.", "closed")
    rows = Invitation.objects.select_related("created_by", "used_by")
    return invitation_shape(rows.get(project=request.project, pk=invitation))


def member_of(request: ApiRequest, person: int) -> Membership:
    rows = Membership.objects.filter(project=request.project, user__id=person).select_related("user")
    found = rows.first()
    if found is None:
        raise NotFound("Not a member of this project.")
    return found


def member_tag(row: Membership) -> str:
    return etag("member", row.pk, row.role)


def member_shape(row: Membership) -> MemberShape:
    return MemberShape(
        id=row.user_id,
        name=row.user.display_name,
        email=row.user.email,
        role=row.role,
        active=row.user.is_active,
        since=row.created_at,
    )


def invitation_shape(row: Invitation) -> InvitationShape:
    return InvitationShape(
        id=row.pk,
        role=row.role,
        email=row.email,
        note=row.note,
        state=row.state,
        created_by=row.created_by.display_name if row.created_by else None,
        created_at=row.created_at,
        expires_at=row.expires_at,
        used_by=row.used_by.display_name if row.used_by else None,
    )
