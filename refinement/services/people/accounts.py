"""Create the first account and projects, and rename people."""

from django.db import transaction
from django.utils.text import slugify

from refinement.models import MemberRole, Membership, Project, SetupLink, User
from refinement.services.audit import audit_record
from refinement.services.people.setup_links import accounts, setup_link_digest
from refinement.services.rubrics.editing import default_rubrics_install

SLUG_LENGTH = 54  # of the field's 60 characters; the rest is for a number


class SetupLinkSpent(Exception):
    """The setup link is invalid, replaced or already used."""


def setup_link_open(token: str) -> bool:
    """Whether this token can still create the first account."""
    return SetupLink.objects.filter(digest=setup_link_digest(token)).exists() and not accounts().exists()


@transaction.atomic
def first_person_create(*, token: str, name: str, email: str, password: str, project_name: str) -> User:
    """Create the first administrator and their project. Raises SetupLinkSpent."""
    _spend_setup_links(token)
    user = User.objects.create_superuser(email, password, name=name)
    # Projects created by the command line before the first account have no members, or only demo people.
    for project in Project.objects.exclude(memberships__user__in=accounts()):
        Membership.objects.create(project=project, user=user, role=MemberRole.OWNER)
    project_create(owner=user, name=project_name)
    return user


def _spend_setup_links(token: str) -> None:
    # All links are locked in one order and deleted together, so only one of several concurrent requests
    # succeeds, even with different links.
    digests = SetupLink.objects.select_for_update().order_by("pk").values_list("digest", flat=True)
    if setup_link_digest(token) not in list(digests) or accounts().exists():
        raise SetupLinkSpent
    SetupLink.objects.all().delete()


@transaction.atomic
def project_create(*, owner: User, name: str) -> Project:
    """Create a project with this owner and the default rubrics. Its slug is made from its name."""
    project = Project(name=name.strip(), slug=_free_slug(name))
    project.full_clean()
    project.save()
    Membership.objects.create(project=project, user=owner, role=MemberRole.OWNER)
    audit_record(
        action="project.create",
        object_type="project",
        object_id=project.pk,
        project=project,
        user=owner,
        after={"name": project.name, "owner": owner.email},
    )
    default_rubrics_install(project=project, user=owner)
    return project


def profile_change(*, user: User, name: str, time_zone: str = "") -> User:
    """Change the user's name and time zone. Raises ValidationError."""
    user.name, user.time_zone = name.strip(), time_zone
    user.full_clean(exclude=["password"])
    user.save(update_fields=["name", "time_zone"])
    return user


def _free_slug(name: str) -> str:
    base = slugify(name)[:SLUG_LENGTH].strip("-_") or "project"
    taken = set(Project.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    if base not in taken:
        return base
    return next(slug for number in range(2, len(taken) + 3) if (slug := f"{base}-{number}") not in taken)
