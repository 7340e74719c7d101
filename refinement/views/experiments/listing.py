"""The list of a project's experiments."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import Suite
from refinement.selectors.experiments.lists import experiments_of

MOST_WORDS = 200
MOST_SUITES = 200


@require_safe
@project_view()
def experiment_list(request: ProjectRequest) -> HttpResponse:
    """Newest first, searched by name; for htmx, only the list."""
    words = " ".join(request.GET.get("q", "").split())[:MOST_WORDS]
    suites = list(Suite.objects.filter(project=request.project).order_by("name")[:MOST_SUITES])
    suite = next((each for each in suites if each.slug == request.GET.get("suite")), None)
    before = request.GET.get("before", "")
    number = int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None
    page = {
        "section": "suites",
        "experiments": experiments_of(request.project, suite=suite, words=words, before=number),
        "words": words,
        "suite": suite,
        "suites": suites,
        "can_edit": can_edit(request),
        "hides": bool(request.blind_runs),
    }
    is_partial = request.htmx and not request.htmx.boosted
    return render(request, f"refinement/experiments/{'_list' if is_partial else 'list'}.html", page)
