"""A run that stopped improving and asks how to go on."""

from django.contrib import messages
from django.http import HttpResponse
from django.views.decorators.http import require_POST

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.services.runs.lifecycle import WrongState
from refinement.services.runs.plateau import plateau_answer
from refinement.views.runs.actions import answer
from refinement.views.runs.page import shown_run

SAID = {
    "stop": "The run stops at its best round.",
    "continue": "A board judges 2 more rounds.",
}


@require_POST
@project_view(role="editor")
def run_plateau(request: ProjectRequest, run: int) -> HttpResponse:
    """Stops the run, or gives it two more rounds with a board: `answer` is stop or continue."""
    found = run_or_404(request, run)
    choice = request.POST.get("answer", "")
    if choice not in SAID:
        messages.error(request, "Choose whether the run stops or continues.")
        return shown_run(request, found, status=422)
    try:
        plateau_answer(run=found, answer=choice, user=request.user)
    except WrongState as refused:
        messages.error(request, str(refused))
        return shown_run(request, run_or_404(request, run), status=422)
    messages.success(request, SAID[choice])
    return answer(request, run)
