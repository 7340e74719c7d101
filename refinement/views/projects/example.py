"""The prepared example: opened, played step by step, deleted."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.projects.example import frame_at
from refinement.services.runs.prepared import example_delete, example_open


@require_POST
@project_view()
def prepared_open(request: ProjectRequest) -> HttpResponse:
    """Opens the example, writing its run on first use. Every member may."""
    run = example_open(project=request.project, user=request.user)
    return redirect("run_page", request.project.slug, run.pk)


@require_safe
@project_view()
def prepared_play(request: ProjectRequest) -> HttpResponse:
    """One step of the example. With JavaScript, it advances automatically until paused."""
    wanted = request.GET.get("step", "")
    step = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 4 else 0
    page = {"section": "home", "frame": frame_at(step), "plays": request.GET.get("play") == "1"}
    is_partial = request.htmx and not request.htmx.boosted
    name = "refinement/example/_player.html" if is_partial else "refinement/example/play.html"
    return render(request, name, page)


@require_POST
@project_view(role="editor")
def prepared_delete(request: ProjectRequest) -> HttpResponse:
    """Deletes the example. It can be opened again from the home page."""
    if example_delete(project=request.project, user=request.user):
        messages.success(request, "Example deleted.")
    return redirect("project_home", request.project.slug)
