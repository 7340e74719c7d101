"""Runs as training data: what goes into it, and the file itself."""

from collections.abc import Callable, Iterator, Sequence

from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.runs.training import TrainingForm
from refinement.interchange.exports.training_pairs import pair_lines, sft_lines
from refinement.models import Project, Run
from refinement.selectors.runs.exports import numbers_of
from refinement.selectors.runs.training import TrainingChoice, better_and_worse, good_texts
from refinement.views.runs.asked import runs_asked_for
from refinement.views.runs.export import sent

OWN_FIELDS = ("least", "with_imported")
Lines = Callable[[Project, Sequence[int], TrainingChoice], Iterator[str]]


def sft(project: Project, numbers: Sequence[int], choice: TrainingChoice) -> Iterator[str]:
    return sft_lines(good_texts(project, numbers, choice))


def pairs(project: Project, numbers: Sequence[int], choice: TrainingChoice) -> Iterator[str]:
    return pair_lines(better_and_worse(project, numbers, choice))


FORMS: dict[str, Lines] = {"sft": sft, "pairs": pairs}


@require_safe
@never_cache
@project_view()
def run_training(request: ProjectRequest) -> HttpResponse:
    """The two kinds of files, for the runs that the address names or its filters let through."""
    return training_page(request)


@require_safe
@never_cache
@project_view()
def run_training_file(request: ProjectRequest, form: str) -> HttpResponseBase:
    """The file; what cannot be read of the choice is said beside its field."""
    if form not in FORMS:
        raise Http404(f"There is no training data of the kind {form[:20]!r}.")
    asked = TrainingForm(request.GET)
    if not asked.is_valid():
        return training_page(request, wrong=form, status=422)
    runs = runs_asked_for(request)
    if runs is None:
        return redirect(f"{reverse('run_list', args=[request.project.slug])}?{request.GET.urlencode()}")
    return training_sent(request, runs, form, asked.choice)


def training_sent(
    request: ProjectRequest, runs: QuerySet[Run], form: str, choice: TrainingChoice
) -> StreamingHttpResponse:
    """The lines, written while they are made."""
    lines = FORMS[form](request.project, numbers_of(runs), choice)
    return sent(request, lines, f"{form}-{request.project.slug}", "jsonl")


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
