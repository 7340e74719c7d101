"""Two rounds of a run compared."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.runs.diffs import round_diff
from refinement.selectors.runs.page import RunFacts, run_facts
from refinement.views.runs.page import partial


@require_safe
@project_view()
def run_diff(request: ProjectRequest, run: int) -> HttpResponse:
    """Compares round b with round a; by default the best with the first."""
    found = run_or_404(request, run)
    facts = run_facts(found)
    a, b = chosen(request, facts)
    sides = request.GET.get("view") == "sides"
    diff = None
    if a is not None and b is not None:
        diff = round_diff(found, facts.rubric, a, b, sides=sides)
        if diff is None:
            raise Http404("Round not found in this run.")
    context = {"section": "runs", "run": found, "facts": facts, "a": a, "b": b, "sides": sides, "diff": diff}
    return render(request, f"refinement/runs/{'_diff' if partial(request) else 'diff'}.html", context)


def chosen(request: ProjectRequest, facts: RunFacts) -> tuple[int | None, int | None]:
    """The requested rounds; missing ones default to the first, the best or the last."""
    numbers = [line.number for line in facts.rounds]
    if not numbers:
        return None, None
    best = facts.run.best_round or numbers[-1]
    b = number_from(request.GET.get("b"), best if best != numbers[0] else numbers[-1])
    a = number_from(request.GET.get("a"), numbers[0])
    return a, b


def number_from(text: str | None, otherwise: int) -> int:
    if not text:
        return otherwise
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Http404("Rounds are given by number.")
    return int(text)
