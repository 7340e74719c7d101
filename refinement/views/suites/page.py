"""A suite's overview, an earlier version, and one of its tasks."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import suite_task_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.experiments.lists import listed
from refinement.selectors.suites.lists import recent_experiments, task_types, tasks_page
from refinement.selectors.suites.tasks import task_text
from refinement.views.suites.context import query_of, suite_context


@require_safe
@project_view()
def suite_page(request: ProjectRequest, suite: str) -> HttpResponse:
    """The newest version."""
    return overview(request, suite)


@require_safe
@project_view()
def suite_version(request: ProjectRequest, suite: str, number: int) -> HttpResponse:
    """Any version."""
    return overview(request, suite, number)


def overview(request: ProjectRequest, slug: str, number: int | None = None) -> HttpResponse:
    """How many tasks of which types, the latest experiments, and the tasks."""
    context = suite_context(request, slug, number)
    context["query"] = query_of(request)
    context["page"], context["tasks"] = tasks_page(
        context["version"], query=context["query"], page=request.GET.get("page", "1")
    )
    partial = request.htmx and not request.htmx.boosted
    if not partial:
        context["types"], context["other_types"] = task_types(context["version"])
        context["experiments"] = listed(recent_experiments(context["suite"]))
        context["hides"] = bool(request.blind_runs)
    name = "refinement/suites/_tasks.html" if partial else "refinement/suites/page.html"
    return render(request, name, context)


@require_safe
@project_view()
def suite_task(request: ProjectRequest, suite: str, key: str) -> HttpResponse:
    """A task of the newest version with all its texts."""
    context = suite_context(request, suite)
    row = suite_task_or_404(context["version"], key)
    context["task"], context["row"] = task_text(row), row
    return render(request, "refinement/suites/task.html", context)
