"""The project that the command line uses."""

from django.db import transaction

from refinement.models import Project
from refinement.services.rubrics.editing import default_rubrics_install

LOCAL = "local"


def project_named(slug: str | None) -> Project:
    """The project with this slug, or by default the only project or `local`. Raises LookupError."""
    if slug:
        return existing(slug)
    projects = list(Project.objects.order_by("slug")[:20])
    if not projects:
        return local_project()
    if len(projects) == 1:
        return projects[0]
    local = next((project for project in projects if project.slug == LOCAL), None)
    if local is None:
        names = ", ".join(project.slug for project in projects)
        raise LookupError(f"there are several projects; choose one with --project: {names}.")
    return local


def existing(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise LookupError(f"there is no project {slug!r}.")
    return project


@transaction.atomic
def local_project() -> Project:
    """The project `local`, created with the default rubrics if it does not exist."""
    project, is_new = Project.objects.get_or_create(slug=LOCAL, defaults={"name": "Local"})
    if is_new:
        default_rubrics_install(project=project)
    return project
