"""Tasks from runs: choose a suite for the selected runs, or make one."""

from collections.abc import Sequence

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.suites.collecting import CollectForm
from refinement.selectors.suites.lists import suites_to_choose
from refinement.selectors.suites.runs import runs_to_add
from refinement.services.suites.collecting import MOST_RUNS, Collected, runs_add, suite_from_runs

REASONS_SHOWN = 5


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def suite_collect(request: ProjectRequest) -> HttpResponse:
    """The selected runs, and the suite that they go to."""
    numbers = chosen(request.POST if request.method == "POST" else request.GET)
    runs = runs_to_add(request.project, numbers)
    if not runs:
        messages.error(request, "No runs selected. Select runs in the list and try again.")
        return redirect("run_list", request.project.slug)
    form = CollectForm(suites_to_choose(request.project), request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            result = collect(request, form, numbers)
        except ValidationError as refused:
            form.add_error(None, refused.messages)
        else:
            return answered(request, result)
    context = {"section": "suites", "form": form, "runs": runs}
    return render(request, "refinement/suites/collect.html", context, status=422 if form.is_bound else 200)


def chosen(data: QueryDict) -> list[int]:
    """The selected run numbers, in order; other values are ignored."""
    given = data.getlist("run")[:MOST_RUNS]
    return [int(value) for value in given if value.isascii() and value.isdigit() and len(value) <= 18]


def collect(request: ProjectRequest, form: CollectForm, numbers: Sequence[int]) -> Collected:
    suite = form.chosen()
    if suite is not None:
        return runs_add(suite=suite, numbers=numbers, user=request.user)
    name = form.cleaned_data["name"]
    return suite_from_runs(project=request.project, name=name, numbers=numbers, user=request.user)


def answered(request: ProjectRequest, result: Collected) -> HttpResponse:
    if result.refused:
        count = len(result.refused)
        more = f" And {count - REASONS_SHOWN:,} more." if count > REASONS_SHOWN else ""
        said = " ".join(result.refused[:REASONS_SHOWN])
        messages.warning(request, f"{counted(count, 'run')} not added. {said}{more}")
    if result.version is None:
        return redirect("suite_list", request.project.slug)
    suite, count = result.version.suite, len(result.keys)
    messages.success(request, f"{counted(count, 'task')} added to {suite.name}.")
    last = -(-result.version.task_count // 100)
    address = reverse("suite_page", args=[request.project.slug, suite.slug])
    return redirect(f"{address}?page={last}" if last > 1 else address)


def counted(count: int, noun: str) -> str:
    return f"1 {noun} was" if count == 1 else f"{count:,} {noun}s were"
