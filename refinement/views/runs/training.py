"""Training data from runs: options and download."""

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from refinement.access.projects import ProjectRequest, project_view
from refinement.downloads import FORMS, training_sent
from refinement.forms.runs.training import TrainingForm
from refinement.views.runs.asked import requested_runs

OWN_FIELDS = ("least", "with_imported")


@require_safe
@never_cache
@project_view()
def run_training(request: ProjectRequest) -> HttpResponse:
    """Both file formats, for the runs in the query string or its filters."""
    return training_page(request)


@require_safe
@never_cache
@project_view()
def run_training_file(request: ProjectRequest, form: str) -> HttpResponseBase:
    """Downloads the file; errors are shown at their field."""
    if form not in FORMS:
        raise Http404(f"Unknown training data format: {form[:20]!r}.")
    asked = TrainingForm(request.GET)
    if not asked.is_valid():
        return training_page(request, wrong=form, status=422)
    runs = requested_runs(request)
    if runs is None:
        return redirect(f"{reverse('run_list', args=[request.project.slug])}?{request.GET.urlencode()}")
    return training_sent(request, runs, form, asked.choice)


def training_page(request: ProjectRequest, wrong: str = "", status: int = 200) -> HttpResponse:
    kept = [
        (name, value) for name, values in request.GET.lists() for value in values if name not in OWN_FIELDS
    ]
    page = {
        "section": "runs",
        "kept": kept,
        "chosen": len(request.GET.getlist("run")),
        "filtered": any(value for name, value in kept if name != "run"),
        "sft": TrainingForm(request.GET if wrong == "sft" else None, auto_id="sft-%s"),
        "pairs": TrainingForm(request.GET if wrong == "pairs" else None, auto_id="pairs-%s"),
    }
    return render(request, "refinement/runs/training.html", page, status=status)
