"""The judges of a project, and what their scores are worth."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.judges import hidden_rubrics
from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.trust.lists import PAGE_SIZE, judge_lines, judges_of
from refinement.views.trust.ways import place

MOST_CHARS = 200


@require_safe
@project_view()
def trust_home(request: ProjectRequest) -> HttpResponse:
    """Judges with the most labels first; a page at a time."""
    words = " ".join(request.GET.get("q", "").split())[:MOST_CHARS]
    pages = Paginator(judges_of(request.project, words), PAGE_SIZE)
    page = pages.get_page(request.GET.get("page"))
    slug = request.project.slug
    context = {
        "section": "trust",
        "lines": judge_lines(list(page.object_list), hidden_rubrics(request)),
        "page": page,
        "query": words,
        "can_edit": can_edit(request),
        "label_list_address": place("label_set_list", slug),
        "label_new_address": place("label_set_new", slug),
        "label_import_address": place("label_set_import", slug),
        "measurements_address": place("measurement_list", slug),
        "retest_address": place("retest_new", slug),
    }
    return render(request, "refinement/trust/home.html", context)
