"""Shared context of a rubric's pages."""

from typing import Any

from refinement.access.objects import can_edit, rubric_or_404, version_or_404
from refinement.access.projects import ProjectRequest


def rubric_context(request: ProjectRequest, slug: str, number: int | None = None) -> dict[str, Any]:
    """The rubric, the requested or newest version, and the page header's values."""
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
