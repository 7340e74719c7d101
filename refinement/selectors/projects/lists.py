"""Projects, memberships and roles of one user."""

from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404

from refinement.models import BlindReading, LabelRater, MemberRole, Membership, Project, User

if TYPE_CHECKING:
    Person = User | AnonymousUser

RANKS = {MemberRole.VIEWER: 0, MemberRole.EDITOR: 1, MemberRole.OWNER: 2}


class NotFound(Http404):
    """Does not exist, or this user may not see it. Pages and API answer 404 to both."""


def projects_for(user: "Person") -> QuerySet[Project]:
    """The projects this user is a member of, by name."""
    if not isinstance(user, User):
        return Project.objects.none()
    return Project.objects.filter(memberships__user=user)


def memberships_of(user: User) -> QuerySet[Membership]:
    """This user's memberships with their projects, by project name."""
    return Membership.objects.select_related("project").filter(user=user).order_by("project__name", "pk")


def membership_for(user: "Person", slug: str) -> Membership:
    """This user's membership in the project. Raises NotFound if there is none."""
    if isinstance(user, User):
        for membership in _memberships_at(user.pk, slug):
            return membership
    raise NotFound("Project not found, or you are not a member of it.")


def _memberships_at(user: int, slug: str) -> list[Membership]:
    rows = Membership.objects.select_related("project").annotate(
        reads_blind=Exists(_open_readings()), labels=Exists(_open_queues())
    )
    return list(rows.filter(user=user, project__slug=slug).order_by("pk")[:1])


def _open_readings() -> QuerySet[BlindReading]:
    """Part of the membership query, so that blind reviews cost no query of their own."""
    return BlindReading.objects.filter(
        reader=OuterRef("user"), run__project=OuterRef("project"), ended_at__isnull=True
    )


def _open_queues() -> QuerySet[LabelRater]:
    return LabelRater.objects.filter(
        user=OuterRef("user"), label_set__project=OuterRef("project"), opened_at__isnull=False
    )


def project_for(user: "Person", slug: str) -> Project:
    """The project with this slug. Raises NotFound if this user is not a member."""
    return membership_for(user, slug).project


def current_project(user: "Person", last_used: str | None) -> Project | None:
    """The last used project if this user is still a member, else their first, else None."""
    projects = projects_for(user)
    return (projects.filter(slug=last_used).first() if last_used else None) or projects.first()


def lower_role(one: str, other: str) -> MemberRole:
    """The role with fewer permissions."""
    return min(MemberRole(one), MemberRole(other), key=RANKS.__getitem__)
