"""What became of a round's feedback: people's corrections."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.projects.lists import NotFound
from refinement.services.runs.ledger import CorrectionConflict, feedback_correct
from refinement.views.runs.page import partial, shown_round, shown_run

MOST_POSITION_DIGITS = 4


@require_POST
@project_view(role="editor")
def run_feedback(request: ProjectRequest, run: int, number: int) -> HttpResponse:
    """Sets what became of one piece of the round's feedback; the button names it."""
    found = run_or_404(request, run)
    kind, position, version, fate = chosen(request.POST.get("correction", ""))
    note, status = "", 200
    try:
        feedback_correct(
            run=found, number=number, kind=kind, position=position, fate=fate, version=version,
            user=request.user,
        )  # fmt: skip
    except NotFound as missing:
        raise Http404(str(missing)) from None
    except ValidationError as invalid:
        note, status = " ".join(invalid.messages), 422
    except CorrectionConflict as overtaken:
        note, status = str(overtaken), 409
    found = run_or_404(request, run)
    if partial(request):
        return shown_round(request, found, number, status=status, feedback_note=note)
    if note:
        return shown_run(request, found, number, status=status, feedback_note=note)
    messages.success(request, "Feedback corrected.")
    return redirect("run_round", request.project.slug, run, number)


def chosen(value: str) -> tuple[str, int, str, str]:
    """The kind, position, version and fate that a button's value names; 404 for anything else."""
    parts = value.split(":")
    if len(parts) != 4:
        raise Http404("Choose what became of it with one of the buttons.")
    kind, position, version, fate = parts
    if not (position.isascii() and position.isdigit() and len(position) <= MOST_POSITION_DIGITS):
        raise Http404("Feedback is given by its position.")
    return kind, int(position), version, fate
