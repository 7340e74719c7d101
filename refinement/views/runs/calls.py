"""Model calls of a run, with their exact messages and replies."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import Call, Run
from refinement.selectors.runs.calls import (
    PAGE_SIZE,
    call_as_text,
    call_lines,
    call_texts,
    calls_of,
    seen_table,
)
from refinement.selectors.runs.costs import role_costs
from refinement.selectors.runs.page import RunFacts, run_facts
from refinement.services.reviews.blind_readings import scores_seen_record
from refinement.views.runs.page import partial
from refinement.views.runs.pane import number_from


@require_safe
@project_view()
def run_calls(request: ProjectRequest, run: int) -> HttpResponse:
    """The calls of a run or a round, or one call in full: as a page or plain text."""
    found = run_or_404(request, run)
    scores_seen_record(runs=[found], user=request.user)
    if "call" in request.GET:
        return one_call(request, found, number_from(request.GET["call"], 0))
    facts = run_facts(found)
    context = list_context(request, facts)
    return render(request, f"refinement/runs/{'_calls' if partial(request) else 'calls'}.html", context)


def list_context(request: ProjectRequest, facts: RunFacts) -> dict[str, Any]:
    number = number_from(request.GET.get("round"), 0) or None
    page = Paginator(calls_of(facts.run, number), PAGE_SIZE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    return {
        "section": "runs",
        "run": facts.run,
        "facts": facts,
        "round_number": number,
        "page": page,
        "calls": call_lines(rows),
        "seen": seen_table(rows) if number else None,
        "usage": role_costs(facts.run) if not number and rows else None,
    }


def one_call(request: ProjectRequest, run: Run, number: int) -> HttpResponse:
    call = Call.objects.filter(run=run, pk=number).first()
    if call is None:
        raise Http404("Call not found in this run.")
    if request.GET.get("form") == "text":
        return HttpResponse(call_as_text(call), content_type="text/plain; charset=utf-8")
    facts = run_facts(run)
    context = {
        "section": "runs",
        "run": run,
        "facts": facts,
        "call": call_lines([call])[0],
        "said": call_texts(call),
    }
    return render(request, f"refinement/runs/{'_call' if partial(request) else 'call'}.html", context)
