"""Invitations: one-time links that add a person to a project with a role."""

import hmac
import secrets
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from refinement.models import Invitation, MemberRole, Membership, Project, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.audit import AuditOf
from refinement.services.people.memberships import project_lock, require_owner
from refinement.services.people.setup_links import setup_link_digest
from refinement.texts import storable

TOKEN_BYTES = 32
MOST_TOKEN_CHARS = 100  # longer input is cut before hashing
_record = AuditOf("invitation")


class InvitationSpent(Exception):
    """The link is invalid, used, revoked or expired."""


class AlreadyMember(Exception):
    """The person is already a member. The link stays usable."""


class AddressTaken(Exception):
    """An account with this email address already exists."""


@transaction.atomic
def invitation_make(
    *, project: Project, role: str, days: int, by: User, email: str = "", note: str = ""
) -> tuple[Invitation, str]:
    """Create an invitation; return it with its token, which is shown once and not stored."""
    project_lock(project)
    require_owner(project, by)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    invitation = Invitation(
        project=project,
        role=MemberRole(role),
        digest=setup_link_digest(token),
        email=email,
        note=storable(note).strip(),
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    invitation.full_clean()
    invitation.save()
    after = {"role": invitation.role, "expires": f"{invitation.expires_at:%Y-%m-%d %H:%M} UTC"}
    said = {name: value for name, value in (("mail", email), ("note", invitation.note)) if value}
    _record("invitation.create", invitation, by, after=after | said)
    return invitation, token


@transaction.atomic
def invitation_revoke(*, project: Project, number: int, by: User) -> bool:
    """Revoke the link. Return False if it was already used or revoked. Raises NotFound."""
    rows = Invitation.objects.filter(project=project, pk=number)
    invitation = rows.first()
    if invitation is None:
        raise NotFound("This project has no such invitation.")
    if not rows.filter(used_at=None, revoked_at=None).update(revoked_at=timezone.now()):
        return False
    _record("invitation.revoke", invitation, by, before={"role": invitation.role})
    return True


def invitation_for(token: str) -> Invitation:
    """The open invitation of a token. Raises InvitationSpent."""
    digest = setup_link_digest(token[:MOST_TOKEN_CHARS])
    invitation = Invitation.objects.select_related("project", "created_by").filter(digest=digest).first()
    # The index lookup reveals nothing about the token; the comparison itself takes constant time.
    if invitation is None or not hmac.compare_digest(invitation.digest, digest):
        raise InvitationSpent
    if invitation.state != "open":
        raise InvitationSpent
    return invitation


@transaction.atomic
def invitation_accept(*, token: str, user: User) -> Membership:
    """Add a person with an account to the project. Raises InvitationSpent, AlreadyMember."""
    invitation = _locked(token)
    if Membership.objects.filter(project=invitation.project, user=user).exists():
        raise AlreadyMember
    return _join(invitation, user)


@transaction.atomic
def invitation_accept_new(*, token: str, name: str, email: str, password: str | None) -> User:
    """Create an account and add it to the project. Raises InvitationSpent, AddressTaken."""
    invitation = _locked(token)
    if User.objects.filter(email__iexact=email).exists():
        raise AddressTaken
    try:
        with transaction.atomic():
            user = User.objects.create_user(email, password, name=name)
    except IntegrityError:
        raise AddressTaken from None
    _join(invitation, user)
    return user


def _locked(token: str) -> Invitation:
    """The open invitation, with the memberships of its project locked."""
    project_lock(invitation_for(token).project)
    return invitation_for(token)


def _join(invitation: Invitation, user: User) -> Membership:
    # Conditional: deactivating the inviter's account revokes the link without the project's lock.
    still_open = Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None)
    if still_open.update(used_by=user, used_at=timezone.now()) != 1:
        raise InvitationSpent
    membership = Membership.objects.create(project=invitation.project, user=user, role=invitation.role)
    after = {"member": user.email, "role": invitation.role, "invited_by": str(invitation.created_by or "")}
    _record("invitation.accept", invitation, user, after=after)
    return membership
