"""A rubric's versions: list and comparison."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.rubrics.comparisons import definitions_compared
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.lists import versions_page
from refinement.views.rubrics.context import rubric_context


@require_safe
@project_view()
def rubric_versions(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Every version with its author, time and note; two can be selected."""
    page = rubric_context(request, rubric)
    page["page"] = versions_page(page["rubric"], request.GET.get("page", "1"))
    return render(request, "refinement/rubrics/versions.html", page)


@require_safe
@project_view()
def rubric_compare(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Two versions, field by field; by default the two newest."""
    page = rubric_context(request, rubric)
    second = _number(request.GET.get("b"), page["newest"])
    first = _number(request.GET.get("a"), max(second - 1, 1))
    before, after = (version_or_404(page["rubric"], number) for number in (first, second))
    page["before"], page["after"], page["sides"] = before, after, (before, after)
    page["comparison"] = definitions_compared(definition_of(before), definition_of(after))
    partial = request.htmx and not request.htmx.boosted
    name = "refinement/rubrics/_comparison.html" if partial else "refinement/rubrics/compare.html"
    return render(request, name, page)


def _number(text: str | None, default: int) -> int:
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and 0 < int(text[:10]) < 2**31):
        raise Http404("Version not found for this rubric.")
    return int(text)
