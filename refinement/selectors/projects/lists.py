"""Projects, always as one person sees them."""

from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404

from refinement.models import BlindReading, MemberRole, Membership, Project, User

if TYPE_CHECKING:
    Person = User | AnonymousUser

RANKS = {MemberRole.VIEWER: 0, MemberRole.EDITOR: 1, MemberRole.OWNER: 2}


class NotFound(Http404):
    """Not there, or not this person's to see: pages and endpoints answer 404 to both alike."""


def projects_for(user: "Person") -> QuerySet[Project]:
    """The projects this person is a member of, by name."""
    if not isinstance(user, User):
        return Project.objects.none()
    return Project.objects.filter(memberships__user=user)


def memberships_of(user: User) -> QuerySet[Membership]:
    """This person's memberships with their projects, by the project's name."""
    return Membership.objects.select_related("project").filter(user=user).order_by("project__name", "pk")


def membership_for(user: "Person", slug: str) -> Membership:
    """This person's membership in the project at this address; raises NotFound for everyone else."""
    if isinstance(user, User):
        for membership in _memberships_at(user.pk, slug):
            return membership
    raise NotFound("There is no project at this address, or you are not a member of it.")


def _memberships_at(user: int, slug: str) -> list[Membership]:
    rows = Membership.objects.select_related("project").annotate(reads_blind=Exists(_open_readings()))
    return list(rows.filter(user=user, project__slug=slug).order_by("pk")[:1])


def _open_readings() -> QuerySet[BlindReading]:
    """Asked along with the membership: for nearly everybody there are none, and no query more."""
    return BlindReading.objects.filter(
        reader=OuterRef("user"), run__project=OuterRef("project"), ended_at__isnull=True
    )


def project_for(user: "Person", slug: str) -> Project:
    """The project at this address; raises NotFound for anyone who is not a member."""
    return membership_for(user, slug).project


def current_project(user: "Person", last_used: str | None) -> Project | None:
    """The project last used, if this person is still in it, else their first, else None."""
    projects = projects_for(user)
    return (projects.filter(slug=last_used).first() if last_used else None) or projects.first()


def member_count(project: Project) -> int:
    """How many people are in the project."""
    return Membership.objects.filter(project=project).count()


def lower_role(one: str, other: str) -> MemberRole:
    """The one of two roles that may do less."""
    return min(MemberRole(one), MemberRole(other), key=RANKS.__getitem__)
