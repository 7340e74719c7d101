"""What every page about one rubric starts from."""

from typing import Any

from django.http import Http404

from refinement.access.projects import ProjectRequest
from refinement.models import MemberRole, Rubric, RubricVersion
from refinement.selectors.projects.lists import RANKS


def rubric_or_404(request: ProjectRequest, slug: str) -> Rubric:
    """The project's rubric with this name in its address."""
    found = Rubric.objects.filter(project=request.project, slug=slug).first()
    if found is None:
        raise Http404("There is no such rubric in this project.")
    found.project = request.project
    return found


def version_or_404(rubric: Rubric, number: int | None = None) -> RubricVersion:
    """The version with this number, or the newest; criteria and checks come with it."""
    versions = rubric.versions.select_related("created_by").prefetch_related("criteria", "checks")
    found = versions.first() if number is None else versions.filter(number=number).first()
    if found is None:
        raise Http404("There is no such version of this rubric.")
    found.rubric = rubric
    return found


def can_edit(request: ProjectRequest) -> bool:
    return RANKS[MemberRole(request.membership.role)] >= RANKS[MemberRole.EDITOR]


def rubric_context(request: ProjectRequest, slug: str, number: int | None = None) -> dict[str, Any]:
    """The rubric, the version asked for or the newest, and what the head of the page needs."""
    rubric = rubric_or_404(request, slug)
    version = version_or_404(rubric, number)
    newest = rubric.versions.order_by("-number").values_list("number", flat=True)[0]
    return {
        "section": "rubrics",
        "rubric": rubric,
        "version": version,
        "newest": newest,
        "can_edit": can_edit(request),
    }
