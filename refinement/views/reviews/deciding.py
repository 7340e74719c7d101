"""Decisions on a run; the judge's result is kept."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.reviews.decisions import DecisionForm, decision_form
from refinement.models import DecisionKind, Run
from refinement.selectors.reviews.decisions import decision_line
from refinement.services.reviews.decisions import DecisionConflict, decision_make
from refinement.views.runs.page import shown_run


@require_POST
@project_view(role="editor")
def run_decide(request: ProjectRequest, run: int) -> HttpResponse:
    """Saves the decision. If someone decided first, shows theirs and keeps the typed text."""
    found = run_or_404(request, run)
    form = form_for(request, found)
    if not form.is_valid():
        return shown_run(request, found, status=422, decide=form)
    given = form.cleaned_data
    try:
        made = decision_make(
            run=found, kind=given["kind"], round_number=given["round"], reason=given["reason"],
            seen=given["seen"], user=request.user,
        )  # fmt: skip
    except DecisionConflict as meanwhile:
        return conflict(request, run_or_404(request, run), meanwhile)
    except ValidationError as error:
        form.take_over(error)
        return shown_run(request, found, status=422, decide=form)
    line = decision_line(made)
    asked = made.kind == DecisionKind.CHANGES
    messages.success(request, "Changes requested." if asked else f"You {line.did}.")
    return redirect("run_page", request.project.slug, run)


def conflict(request: ProjectRequest, run: Run, meanwhile: DecisionConflict) -> HttpResponse:
    """The typed form with the other person's decision; submitting again overwrites it."""
    form = form_for(request, run, seen=meanwhile.newest.number)
    line = decision_line(meanwhile.newest)
    return shown_run(request, run, status=409, decide=form, decided_meanwhile=line)


def form_for(request: ProjectRequest, run: Run, *, seen: int | None = None) -> DecisionForm:
    """The submitted form; with `seen`, based on that decision."""
    typed = request.POST.copy()
    if seen is not None:
        typed["seen"] = str(seen)
    numbers = run.rounds.order_by("number").values_list("number", flat=True)
    return decision_form(run, list(numbers), typed)
