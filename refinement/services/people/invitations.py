"""Links that let one person into a project with a role, once, for some days."""

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

TOKEN_BYTES = 32
SECRET_FORM = 100  # characters; a longer token is none of ours, and needs no digest
_record = AuditOf("invitation")


class InvitationSpent(Exception):
    """The link was used, revoked, has expired or was never made."""


class AlreadyMember(Exception):
    """The person is in the project: the link stays for somebody else."""


class AddressTaken(Exception):
    """There is an account with this mail address."""


@transaction.atomic
def invitation_make(
    *, project: Project, role: str, days: int, by: User, email: str = ""
) -> tuple[Invitation, str]:
    """The invitation, and the token that is shown once and kept nowhere."""
    project_lock(project)
    require_owner(project, by)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    invitation = Invitation(
        project=project,
        role=MemberRole(role),
        digest=setup_link_digest(token),
        email=email,
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    invitation.full_clean()
    invitation.save()
    said = {"role": invitation.role, "expires": f"{invitation.expires_at:%Y-%m-%d %H:%M} UTC"}
    _record("invitation.create", invitation, by, after=said | ({"mail": email} if email else {}))
    return invitation, token


@transaction.atomic
def invitation_revoke(*, project: Project, number: int, by: User) -> bool:
    """The link no longer works; False where it did not work already. Raises NotFound."""
    found = Invitation.objects.filter(project=project, pk=number)
    invitation = found.first()
    if invitation is None:
        raise NotFound("There is no such invitation in this project.")
    if not found.filter(used_at=None, revoked_at=None).update(revoked_at=timezone.now()):
        return False
    _record("invitation.revoke", invitation, by, before={"role": invitation.role})
    return True


def invitation_for(token: str) -> Invitation:
    """The open invitation behind a token; raises InvitationSpent."""
    digest = setup_link_digest(token[:SECRET_FORM])
    invitation = Invitation.objects.select_related("project", "created_by").filter(digest=digest).first()
    # The index finds a digest, which tells nothing about the token; compared once more without haste.
    if invitation is None or not hmac.compare_digest(invitation.digest, digest):
        raise InvitationSpent
    if invitation.state != "open":
        raise InvitationSpent
    return invitation


@transaction.atomic
def invitation_accept(*, token: str, user: User) -> Membership:
    """A person with an account joins; raises InvitationSpent, AlreadyMember."""
    invitation = _locked(token)
    if Membership.objects.filter(project=invitation.project, user=user).exists():
        raise AlreadyMember
    return _join(invitation, user)


@transaction.atomic
def invitation_accept_new(*, token: str, name: str, email: str, password: str | None) -> User:
    """A new account that is in the project at once; raises InvitationSpent, AddressTaken."""
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
    """The invitation, while nobody else changes who is in its project."""
    project_lock(invitation_for(token).project)
    return invitation_for(token)


def _join(invitation: Invitation, user: User) -> Membership:
    # Conditional: whoever closes the inviter's account takes the link back without the project's lock.
    still_open = Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None)
    if still_open.update(used_by=user, used_at=timezone.now()) != 1:
        raise InvitationSpent
    membership = Membership.objects.create(project=invitation.project, user=user, role=invitation.role)
    after = {"member": user.email, "role": invitation.role, "invited_by": str(invitation.created_by or "")}
    _record("invitation.accept", invitation, user, after=after)
    return membership
