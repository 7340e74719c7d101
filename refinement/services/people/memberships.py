"""What changes who is in a project and with which role. A project always keeps an owner."""

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from refinement.models import ApiToken, Invitation, MemberRole, Membership, Project, ShareLink, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.audit import audit_record
from refinement.services.reviews.requests import reviews_release


class LastOwner(Exception):
    """Nobody would be left who can run the project: refused."""


@transaction.atomic
def member_role_change(*, project: Project, user_id: int, role: str, by: User) -> bool:
    """The member with another role; False where it was so already. Raises LastOwner, NotFound."""
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
    """The member is out; their work stays. Raises LastOwner, NotFound."""
    membership = _member_for(project, user_id, by)
    _take_out(membership, by, "member.remove")
    return membership


@transaction.atomic
def member_leave(*, project: Project, user: User) -> None:
    """The person is no longer in the project; raises LastOwner, NotFound."""
    project_lock(project)
    _take_out(_membership(project, user.pk), user, "member.leave")


@transaction.atomic
def project_adopt(*, project: Project, by: User) -> bool:
    """An administrator becomes owner of a project that has no owner who can sign in; False otherwise."""
    project_lock(project)
    if owners_of(project).exists():
        return False
    membership, _ = Membership.objects.update_or_create(
        project=project, user=by, defaults={"role": MemberRole.OWNER}
    )
    _record("member.adopt", membership, by, after={"role": MemberRole.OWNER.value})
    return True


def owners_of(project: Project) -> QuerySet[Membership]:
    """Owners who can sign in."""
    return Membership.objects.filter(project=project, role=MemberRole.OWNER, user__is_active=True)


def project_lock(project: Project) -> None:
    """Changes of one project's people come one after the other, until the transaction ends."""
    # Weak enough for rows that refer to the project to be added meanwhile.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def require_owner(project: Project, by: User) -> None:
    """Asked again behind the lock: a moment ago, another owner may have changed this one's role."""
    if not owners_of(project).filter(user=by).exists():
        raise PermissionDenied(f"You are no longer an owner of {project.name}; another owner changed that.")


def _member_for(project: Project, user_id: int, by: User) -> Membership:
    project_lock(project)
    require_owner(project, by)
    return _membership(project, user_id)


def _membership(project: Project, user_id: int) -> Membership:
    found = Membership.objects.select_related("user", "project").filter(project=project, user__id=user_id)
    membership = found.first()
    if membership is None:
        raise NotFound("This person is not a member of the project (any more).")
    return membership


def _take_out(membership: Membership, by: User, action: str) -> None:
    _require_another_owner(membership)
    _revoke_invitations_of(membership)
    reviews_release(membership, by)
    ended = share_links_end(ShareLink.objects.filter(project=membership.project), membership.user)
    spent = tokens_end(ApiToken.objects.filter(project=membership.project), membership.user)
    said: dict[str, object] = {"role": membership.role}
    said |= {"share_links_revoked": ended} if ended else {}
    said |= {"tokens_revoked": spent} if spent else {}
    _record(action, membership, by, before=said)
    Membership.objects.filter(pk=membership.pk).delete()


def _require_another_owner(membership: Membership) -> None:
    others = owners_of(membership.project).exclude(pk=membership.pk)
    if membership.role == MemberRole.OWNER and not others.exists():
        raise LastOwner


def _revoke_invitations_of(membership: Membership) -> None:
    # Whoever no longer decides who comes in must not keep a way in, for others or for themselves.
    Invitation.objects.filter(
        project=membership.project, created_by=membership.user, used_at=None, revoked_at=None
    ).update(revoked_at=timezone.now())


def share_links_end(links: QuerySet[ShareLink], maker: User) -> int:
    """Whoever goes knows the links they made, and must not go on reading by them."""
    now = timezone.now()
    return links.filter(created_by=maker, revoked_at=None, expires_at__gt=now).update(revoked_at=now)


def tokens_end(tokens: QuerySet[ApiToken], maker: User) -> int:
    """Whoever goes takes the force of their tokens along, also if they come back."""
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


LAST_OWNER = "A project needs an owner. Make somebody else an owner first."
