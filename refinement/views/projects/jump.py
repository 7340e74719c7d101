"""The command palette's results, and a search page without script."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.projects.jump import jump


@require_safe
@project_view()
def project_jump(request: ProjectRequest) -> HttpResponse:
    """Runs, rubrics, views, pages and actions that match `q`."""
    words = request.GET.get("q", "")
    request.membership.user = request.user
    page = {"groups": jump(request.membership, words), "words": words.strip()}
    whole = not request.htmx or request.htmx.boosted
    template = "refinement/jump.html" if whole else "refinement/_jump_results.html"
    return render(request, template, page)
