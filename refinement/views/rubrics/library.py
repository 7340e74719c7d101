"""The list of a project's rubrics."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.rubrics.lists import LATEST_RUNS, archived_count, rubrics_page

QUERY_CHARS = 200


@require_safe
@project_view()
def rubric_list(request: ProjectRequest) -> HttpResponse:
    """Active or archived rubrics, with search by name and purpose."""
    query = request.GET.get("q", "").replace("\x00", "").strip()[:QUERY_CHARS]
    archived = request.GET.get("archived") == "1"
    page, rubrics = rubrics_page(
        request.project, query=query, archived=archived, page=request.GET.get("page", "1")
    )
    context = {
        "section": "rubrics",
        "query": query,
        "archived": archived,
        "archived_count": archived_count(request.project),
        "page": page,
        "rubrics": rubrics,
        "latest_runs": LATEST_RUNS,
        "can_edit": can_edit(request),
    }
    partial = request.htmx and not request.htmx.boosted
    name = "refinement/rubrics/_list.html" if partial else "refinement/rubrics/list.html"
    return render(request, name, context)
