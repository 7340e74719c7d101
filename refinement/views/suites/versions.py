"""A suite's versions: list and comparison."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import suite_version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.suites.comparisons import versions_compared
from refinement.selectors.suites.lists import versions_page
from refinement.views.suites.context import suite_context, whole


@require_safe
@project_view()
def suite_versions(request: ProjectRequest, suite: str) -> HttpResponse:
    """Every version with its author, time and note; two can be selected."""
    context = suite_context(request, suite)
    context["page"] = versions_page(context["suite"], request.GET.get("page", "1"))
    return render(request, "refinement/suites/versions.html", context)


@require_safe
@project_view()
def suite_compare(request: ProjectRequest, suite: str) -> HttpResponse:
    """Two versions, task by task; by default the two newest."""
    context = suite_context(request, suite)
    second = _number(request.GET.get("b"), context["newest"])
    first = _number(request.GET.get("a"), max(second - 1, 1))
    before, after = (suite_version_or_404(context["suite"], number) for number in (first, second))
    context["before"], context["after"], context["sides"] = before, after, (before, after)
    context["comparison"] = versions_compared(before, after)
    partial = request.htmx and not request.htmx.boosted
    name = "refinement/suites/_comparison.html" if partial else "refinement/suites/compare.html"
    return render(request, name, context)


def _number(text: str | None, default: int) -> int:
    if not text:
        return default
    number = whole(text)
    if not number:
        raise Http404("Version not found for this suite.")
    return number
