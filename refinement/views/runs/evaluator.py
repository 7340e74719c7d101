"""Evaluator trials: run again on a judged round, follow and cancel."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import EvaluatorTrial, Round
from refinement.selectors.runs.evaluators.trials import evaluator_trial_or_404, trial_facts, trials_of_round
from refinement.services.runs.evaluator_trials import (
    TooManyTrials,
    evaluator_again,
    evaluator_trial_cancel,
)
from refinement.views.runs.page import partial

STOP_POLLING = 286  # htmx swaps the response and stops polling


@require_safe
@project_view()
def run_evaluator(request: ProjectRequest, run: int, number: int) -> HttpResponse:
    """The further results of a round's evaluator as a partial; without htmx the round itself."""
    entry = round_or_404(request, run, number)
    if not partial(request):
        return redirect("run_round", request.project.slug, run, number)
    return shown(request, entry, polls=True)


@require_POST
@project_view(role="editor")
def run_evaluator_again(request: ProjectRequest, run: int, number: int) -> HttpResponse:
    """Runs the evaluator on a judged round again, next to its first result."""
    entry, wrong = round_or_404(request, run, number), ""
    try:
        evaluator_again(entry=entry, user=request.user)
    except ValidationError as invalid:
        wrong = " ".join(invalid.messages)
    except TooManyTrials as refused:
        wrong = str(refused)
    if partial(request):
        return shown(request, entry, wrong)
    if wrong:
        messages.error(request, wrong)
    return redirect("run_round", request.project.slug, run, number)


def round_or_404(request: ProjectRequest, run: int, number: int) -> Round:
    found = run_or_404(request, run)
    entry = Round.objects.filter(run=found, number=number).first()
    if entry is None:
        raise Http404("Round not found in this run.")
    entry.run = found
    return entry


def shown(request: ProjectRequest, entry: Round, wrong: str = "", *, polls: bool = False) -> HttpResponse:
    trials = trials_of_round(entry)
    context = {"run": entry.run, "opened": entry.number, "again": trials, "again_wrong": wrong}
    context["can_edit"] = request.membership.can_edit
    over = all(facts.trial.is_over for facts in trials)
    context["again_polls"] = not over
    status = 422 if wrong else STOP_POLLING if over and polls else 200
    return render(request, "refinement/runs/_again.html", context, status=status)


@require_safe
@project_view(role="editor")
def evaluator_trial(request: ProjectRequest, trial: int) -> HttpResponse:
    """One trial: a page that reloads until it is over, or a partial for htmx."""
    found = readable_trial(request, trial)
    if not partial(request):
        context = {"section": "rubrics", "facts": trial_facts(found)}
        return render(request, "refinement/rubrics/evaluator_trial.html", context)
    return trial_partial(request, found, status=STOP_POLLING if found.is_over else 200)


def trial_partial(request: ProjectRequest, trial: EvaluatorTrial, status: int = 200) -> HttpResponse:
    """The trial inside the rubric editor, which is a form of its own."""
    context = {"facts": trial_facts(trial), "in_editor": True}
    return render(request, "refinement/rubrics/_evaluator_trial.html", context, status=status)


@require_POST
@project_view(role="editor")
def evaluator_trial_cancelled(request: ProjectRequest, trial: int) -> HttpResponse:
    """Cancels a trial; its command is stopped."""
    found = readable_trial(request, trial)
    evaluator_trial_cancel(trial=found, user=request.user)
    if found.round is not None:
        return redirect("run_round", request.project.slug, found.round.run_id, found.round.number)
    if partial(request):
        return trial_partial(request, evaluator_trial_or_404(request.project, trial))
    return redirect("evaluator_trial", request.project.slug, trial)


def readable_trial(request: ProjectRequest, pk: int) -> EvaluatorTrial:
    trial = evaluator_trial_or_404(request.project, pk)
    if trial.round is not None:
        run_or_404(request, trial.round.run_id, whole=False)  # nobody who scores it blind
    return trial
