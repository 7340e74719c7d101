"""What editors do with an experiment: pause, resume, stop, run what is missing, choose the baseline."""

from collections.abc import Callable, Mapping
from decimal import Decimal

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from refinement.access.objects import experiment_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.rubrics.values import Refused, whole_of
from refinement.models import CellState, Configuration, Experiment
from refinement.services.experiments.control import (
    baseline_choose,
    experiment_cancel,
    experiment_pause,
    experiment_resume,
    experiment_run_missing,
)
from refinement.services.runs.lifecycle import WrongState
from refinement.views.experiments.page import is_partial, shown_experiment

LARGEST = Decimal(10**15)


def resume(request: ProjectRequest, experiment: Experiment) -> str:
    budget = request.POST.get("token_budget", "").strip()
    experiment_resume(experiment, request.user, token_budget=budget_of(budget) if budget else None)
    return "Experiment resumed."


def pause(request: ProjectRequest, experiment: Experiment) -> str:
    experiment_pause(experiment, request.user)
    return "Experiment paused. Finished runs are kept."


def cancel(request: ProjectRequest, experiment: Experiment) -> str:
    experiment_cancel(experiment, request.user)
    return "Experiment stopped. Finished runs are kept."


def missing(request: ProjectRequest, experiment: Experiment) -> str:
    count = experiment_run_missing(experiment, request.user)
    return f"{count:,} run{'s start' if count > 1 else ' starts'} now."


ACTIONS: Mapping[str, Callable[[ProjectRequest, Experiment], str]] = {
    "pause": pause,
    "resume": resume,
    "cancel": cancel,
    "missing": missing,
}


def budget_of(text: str) -> int:
    """A token budget as typed. Raises ValidationError."""
    try:
        return int(whole_of(text.replace(",", ""), Decimal(1), LARGEST))
    except Refused as refusal:
        raise ValidationError(str(refusal)) from None


@require_POST
@project_view(role="editor")
def experiment_action(request: ProjectRequest, experiment: int, action: str) -> HttpResponse:
    """One of `ACTIONS`; the page says what happened, or why not."""
    if action not in ACTIONS:
        raise Http404("Experiments have no such action.")
    found = experiment_or_404(request, experiment)
    try:
        messages.success(request, ACTIONS[action](request, found))
    except WrongState as refusal:
        messages.error(request, str(refusal))
    except ValidationError as refusal:
        messages.error(request, " ".join(refusal.messages))
    return answered(request, found.pk)


@require_POST
@project_view(role="editor")
def experiment_baseline(request: ProjectRequest, experiment: int) -> HttpResponse:
    """Compares with another configuration from now on; the figures are computed again."""
    found = experiment_or_404(request, experiment)
    wanted = request.POST.get("configuration", "")
    rows = Configuration.objects.filter(experiment=found)
    chosen = (
        rows.filter(pk=int(wanted)).first()
        if wanted.isascii() and wanted.isdigit() and len(wanted) < 19
        else None
    )
    if chosen is None:
        messages.error(request, "Choose a configuration of this experiment.")
        return answered(request, found.pk)
    former = rows.filter(baseline=True).exclude(pk=chosen.pk).first()
    baseline_choose(chosen, request.user)
    instead = f" instead of {former.letter} {former.name}" if former else ""
    said = (
        f"Everyone in this project now sees this experiment compared with {chosen.letter} {chosen.name}"
        f"{instead}. Names stay as they are. The figures are being updated."
    )
    if found.runs.filter(state=CellState.DONE).exists():
        said += " This is another comparison, chosen after results were known."
    messages.success(request, said)
    return answered(request, found.pk)


def answered(request: ProjectRequest, number: int) -> HttpResponse:
    """The page as it is now for htmx, a redirect to it otherwise."""
    if is_partial(request):
        return shown_experiment(request, experiment_or_404(request, number))
    return redirect("experiment_page", request.project.slug, number)
