"""Trying the evaluator of an unsaved rubric on a text."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from refinement.access.objects import rubric_or_404, version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.rubrics.reading import clean_fields, read_definition
from refinement.models import EvaluatorTrial
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.runs.evaluator_trials import TooManyTrials, evaluator_try
from refinement.views.runs.evaluator import trial_partial

FIX_FIRST = "Fix these fields before you try the evaluator:"


@require_POST
@project_view(role="editor")
def rubric_try_evaluator(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Queues the form's command on a text; nothing is saved in the rubric."""
    base = definition_of(version_or_404(rubric_or_404(request, rubric)))
    fields = clean_fields(request.POST.dict())
    reading = read_definition(fields, base)
    if reading.definition is None:
        wrong = [message for messages in reading.problems.values() for message in messages]
        return refused(request, [FIX_FIRST, *wrong[:5]], 422)
    try:
        text = fields.get("evaluator-try-text", "")
        trial = evaluator_try(
            project=request.project, rubric=reading.definition, text=text, user=request.user
        )
    except ValidationError as invalid:
        return refused(request, invalid.messages, 422)
    except TooManyTrials as limit:
        return refused(request, [str(limit)], 429)
    return queued(request, trial)


def queued(request: ProjectRequest, trial: EvaluatorTrial) -> HttpResponse:
    if request.htmx and not request.htmx.boosted:
        return trial_partial(request, trial)
    return redirect("evaluator_trial", request.project.slug, trial.pk)


def refused(request: ProjectRequest, problems: list[str], status: int) -> HttpResponse:
    partial = request.htmx and not request.htmx.boosted
    name = "_evaluator_problems" if partial else "evaluator_trial"
    # htmx swaps 422 only, and the limit is a problem like any other there.
    context = {"section": "rubrics", "problems": problems}
    return render(request, f"refinement/rubrics/{name}.html", context, status=422 if partial else status)
