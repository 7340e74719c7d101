"""Members of a project and their roles. A project always keeps an owner."""

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from refinement.models import ApiToken, Invitation, MemberRole, Membership, Project, ShareLink, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.audit import audit_record
from refinement.services.reviews.requests import reviews_release


class LastOwner(Exception):
    """Refused: the project would have no owner."""


@transaction.atomic
def member_role_change(*, project: Project, user_id: int, role: str, by: User) -> bool:
    """Change a member's role. Return False if nothing changed. Raises LastOwner, NotFound."""
    membership = _member_for(project, user_id, by)
    before, role = membership.role, MemberRole(role).value
    if before == role:
        return False
    if role != MemberRole.OWNER:
        _require_another_owner(membership)
        _revoke_invitations_of(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    _record("member.role", membership, by, before={"role": before}, after={"role": role})
    return True


@transaction.atomic
def member_remove(*, project: Project, user_id: int, by: User) -> Membership:
    """Remove a member from the project. Their work stays. Raises LastOwner, NotFound."""
    membership = _member_for(project, user_id, by)
    _take_out(membership, by, "member.remove")
    return membership


@transaction.atomic
def member_leave(*, project: Project, user: User) -> None:
    """Remove the user from the project. Raises LastOwner, NotFound."""
    project_lock(project)
    _take_out(_membership(project, user.pk), user, "member.leave")


@transaction.atomic
def project_adopt(*, project: Project, by: User) -> bool:
    """Make an administrator the owner of a project without an active owner. Return False if it has one."""
    project_lock(project)
    if owners_of(project).exists():
        return False
    membership, _ = Membership.objects.update_or_create(
        project=project, user=by, defaults={"role": MemberRole.OWNER}
    )
    _record("member.adopt", membership, by, after={"role": MemberRole.OWNER.value})
    return True


def owners_of(project: Project) -> QuerySet[Membership]:
    """Owners with an active account."""
    return Membership.objects.filter(project=project, role=MemberRole.OWNER, user__is_active=True)


def project_lock(project: Project) -> None:
    """Serialize changes of the project's members until the transaction ends."""
    # A weak lock: rows that refer to the project can still be added.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def require_owner(project: Project, by: User) -> None:
    """Check the role again after locking: another owner may have just changed it. Raises PermissionDenied."""
    if not owners_of(project).filter(user=by).exists():
        raise PermissionDenied(f"You are no longer an owner of {project.name}.")


def _member_for(project: Project, user_id: int, by: User) -> Membership:
    project_lock(project)
    require_owner(project, by)
    return _membership(project, user_id)


def _membership(project: Project, user_id: int) -> Membership:
    rows = Membership.objects.select_related("user", "project").filter(project=project, user__id=user_id)
    membership = rows.first()
    if membership is None:
        raise NotFound("This person is not a member of the project.")
    return membership


def _take_out(membership: Membership, by: User, action: str) -> None:
    _require_another_owner(membership)
    _revoke_invitations_of(membership)
    reviews_release(membership, by)
    links = share_links_end(ShareLink.objects.filter(project=membership.project), membership.user)
    tokens = tokens_end(ApiToken.objects.filter(project=membership.project), membership.user)
    before: dict[str, object] = {"role": membership.role}
    before |= {"share_links_revoked": links} if links else {}
    before |= {"tokens_revoked": tokens} if tokens else {}
    _record(action, membership, by, before=before)
    Membership.objects.filter(pk=membership.pk).delete()


def _require_another_owner(membership: Membership) -> None:
    others = owners_of(membership.project).exclude(pk=membership.pk)
    if membership.role == MemberRole.OWNER and not others.exists():
        raise LastOwner


def _revoke_invitations_of(membership: Membership) -> None:
    # A former owner must not be able to invite others, or themselves.
    Invitation.objects.filter(
        project=membership.project, created_by=membership.user, used_at=None, revoked_at=None
    ).update(revoked_at=timezone.now())


def share_links_end(links: QuerySet[ShareLink], maker: User) -> int:
    """Revoke the links that a leaving member made, since they know the URLs."""
    now = timezone.now()
    return links.filter(created_by=maker, revoked_at=None, expires_at__gt=now).update(revoked_at=now)


def tokens_end(tokens: QuerySet[ApiToken], maker: User) -> int:
    """Revoke the tokens of a leaving member, for good."""
    return tokens.filter(created_by=maker, revoked_at=None).update(revoked_at=timezone.now())


def _record(
    action: str,
    membership: Membership,
    by: User,
    before: dict[str, object] | None = None,
    after: dict[str, object] | None = None,
) -> None:
    who = {"member": membership.user.email}
    audit_record(
        action=action,
        object_type="member",
        object_id=membership.user_id,
        project=membership.project,
        user=by,
        before=who | before if before else {},
        after=who | after if after else {},
    )


LAST_OWNER = "A project needs an owner. Make another member an owner first."
