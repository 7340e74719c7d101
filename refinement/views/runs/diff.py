"""Two rounds of a run compared, by number."""

from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.runs.page import RunFacts, run_facts
from refinement.views.runs.pane import CHANGES, SIDES, number_from


@require_safe
@project_view()
def run_diff(request: ProjectRequest, run: int) -> HttpResponse:
    """Redirects to round b with its changes from round a; by default the best and the one before it."""
    found = run_or_404(request, run)
    a, b = chosen(request, run_facts(found))
    if b is None:
        return redirect("run_page", request.project.slug, run)
    query = {"view": SIDES if request.GET.get("view") == SIDES else CHANGES}
    if a is not None:
        query["from"] = str(a)
    address = reverse("run_round", args=[request.project.slug, run, b])
    return redirect(f"{address}?{urlencode(query)}")


def chosen(request: ProjectRequest, facts: RunFacts) -> tuple[int | None, int | None]:
    """The requested rounds. Without b it is the best, or the last if the best is the first."""
    numbers = [line.number for line in facts.rounds]
    if not numbers:
        return None, None
    best = facts.run.best_round or numbers[-1]
    b = number_from(request.GET.get("b"), best if best != numbers[0] else numbers[-1])
    return number_from(request.GET.get("a"), 0) or None, b
