"""A single round of a run."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import Round, Run
from refinement.selectors.runs.page import run_facts
from refinement.services.reviews.blind_readings import scores_seen_record
from refinement.views.runs.page import live_context, partial, round_context, shown_run


@require_safe
@project_view()
def run_round(request: ProjectRequest, run: int, number: int) -> HttpResponse:
    """The round; `part=page` the whole page around it, `form=text` its full candidate as plain text."""
    found = run_or_404(request, run)
    if request.GET.get("form") == "text":
        return candidate_as_text(found, number)
    if not partial(request) or request.GET.get("part") == "page":
        return shown_run(request, found, number)
    scores_seen_record(runs=[found], user=request.user)
    facts = run_facts(found)
    context = {"section": "runs", "run": found, "facts": facts, **round_context(request, facts, number)}
    context |= {"can_edit": request.membership.can_edit, **live_context(facts, number)}
    name = "_pane" if request.htmx.target == "round-text" else "_round"
    return render(request, f"refinement/runs/{name}.html", context)


def candidate_as_text(run: Run, number: int) -> HttpResponse:
    text = Round.objects.filter(run=run, number=number).values_list("candidate", flat=True).first()
    if text is None:
        return HttpResponse("Round not found.", status=404, content_type="text/plain; charset=utf-8")
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
