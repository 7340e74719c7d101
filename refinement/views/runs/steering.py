"""Instructions for a run's next revision."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import Instruction, Run
from refinement.services.runs.lifecycle import WrongState
from refinement.services.runs.steering import instruction_give, instruction_withdraw
from refinement.views.runs.page import partial, shown_run
from refinement.views.runs.team import steering_context


@require_POST
@project_view(role="editor")
def run_instruct(request: ProjectRequest, run: int) -> HttpResponse:
    """Saves the instruction. Errors are shown with the form."""
    found = run_or_404(request, run)
    try:
        instruction_give(run=found, text=request.POST.get("text", ""), user=request.user)
    except ValidationError as invalid:
        wrong = {"steer_wrong": invalid.messages, "steer_typed": request.POST.get("text", "")}
        return shown_card(request, run_or_404(request, run), status=422, **wrong)
    return kept(request, run, "Instruction added to the next revision.")


@require_POST
@project_view(role="editor")
def run_instruction_withdrawal(request: ProjectRequest, instruction: int) -> HttpResponse:
    """Withdraws an instruction unless a revision already uses it."""
    given = Instruction.objects.filter(pk=instruction, run__project=request.project).first()
    if given is None:
        raise Http404("Instruction not found in this project.")
    run = given.run_id
    found = run_or_404(request, run)
    try:
        instruction_withdraw(run=found, number=instruction, user=request.user)
    except WrongState as refused:
        return shown_card(request, run_or_404(request, run), status=422, steer_wrong=[str(refused)])
    return kept(request, run, "Instruction withdrawn.")


def kept(request: ProjectRequest, run: int, words: str) -> HttpResponse:
    if partial(request):
        return shown_card(request, run_or_404(request, run), steer_said=words)
    messages.success(request, words)
    return redirect("run_page", request.project.slug, run)


def shown_card(request: ProjectRequest, run: Run, *, status: int = 200, **more: Any) -> HttpResponse:
    """The card for htmx, else the page."""
    if not partial(request):
        return shown_run(request, run, status=status, **more)
    context = {"run": run, "can_edit": request.membership.can_edit, **steering_context(run), **more}
    return render(request, "refinement/runs/_steering.html", context, status=status)
