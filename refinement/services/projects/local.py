"""The project of runs that are made on the command line."""

from django.db import transaction

from refinement.models import Project
from refinement.services.rubrics.editing import default_rubrics_install

LOCAL = "local"


def project_named(slug: str | None) -> Project:
    """The project of this name; without one, `local`, or the only project there is."""
    if slug:
        return existing(slug)
    found = list(Project.objects.order_by("slug")[:20])
    if not found:
        return local_project()
    if len(found) == 1:
        return found[0]
    local = next((project for project in found if project.slug == LOCAL), None)
    if local is None:
        names = ", ".join(project.slug for project in found)
        raise LookupError(f"there are several projects; name one with --project: {names}.")
    return local


def existing(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise LookupError(f"there is no project {slug!r}.")
    return project


@transaction.atomic
def local_project() -> Project:
    """`local`, made with its rubrics where it is not there yet."""
    project, is_new = Project.objects.get_or_create(slug=LOCAL, defaults={"name": "Local"})
    if is_new:
        default_rubrics_install(project=project)
    return project
