"""Editing a round's candidate; saving creates the run's next round."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.runs.hand_rounds import HandRoundForm
from refinement.models import Round, Run
from refinement.selectors.runs.words import capital_round_name
from refinement.services.runs.hand_rounds import (
    EDITABLE,
    RoundConflict,
    newest_round,
    round_edit,
    unjudged_hint,
)
from refinement.services.runs.lifecycle import WrongState

MORE_ROUNDS = 2


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def run_round_edit(request: ProjectRequest, run: int, number: int) -> HttpResponse:
    """The editor. Errors are shown with the text."""
    found = run_or_404(request, run)
    row = Round.objects.filter(run=found, number=number).first()
    if row is None:
        raise Http404("Round not found in this run.")
    if request.method != "POST":
        return editor_page(request, found, row, fresh_form(found, row))
    form = HandRoundForm(request.POST, finished=found.is_finished)
    if not form.is_valid():
        return editor_page(request, found, row, form, status=422)
    try:
        added = round_edit(
            run=found,
            edit=form.edit(number, resume=request.POST.get("then") != "stay"),
            user=request.user,
        )
    except RoundConflict as moved:
        return moved_page(request, run_or_404(request, run), row, str(moved))
    except WrongState as refused:
        return editor_page(request, run_or_404(request, run), row, form, status=409, refusal=str(refused))
    except ValidationError as invalid:
        form.take_over(invalid)
        return editor_page(request, found, row, form, status=422)
    name = capital_round_name(added.number)
    messages.success(request, f"Your text is {name.lower()}. The judge is next.")
    return redirect("run_round", request.project.slug, run, added.number)


def fresh_form(run: Run, row: Round) -> HandRoundForm:
    initial = {"text": row.candidate, "rounds": MORE_ROUNDS, "newest": newest_round(run)}
    return HandRoundForm(initial=initial, finished=run.is_finished)


def moved_page(request: ProjectRequest, run: Run, row: Round, words: str) -> HttpResponse:
    """The typed text with the round that came in between; saving again is possible."""
    typed = request.POST.copy()
    typed["newest"] = str(newest_round(run))
    if run.is_finished:
        typed.setdefault("rounds", str(MORE_ROUNDS))
    form = HandRoundForm(typed, finished=run.is_finished)
    form.is_valid()
    return editor_page(request, run, row, form, status=409, moved=words)


def editor_page(
    request: ProjectRequest, run: Run, row: Round, form: HandRoundForm, *, status: int = 200, **more: str
) -> HttpResponse:
    context = {
        "section": "runs",
        "run": run,
        "row": row,
        "form": form,
        "name": capital_round_name(row.number),
        "newest": newest_round(run),
        "newest_name": capital_round_name(newest_round(run)),
        "closed": run.status not in EDITABLE,
        "unjudged": unjudged_hint(run) if run.rounds.filter(judged_at__isnull=True).exists() else "",
        **more,
    }
    return render(request, "refinement/runs/edit_round.html", context, status=status)
