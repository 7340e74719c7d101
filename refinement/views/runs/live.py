"""Live view of a run: the current step, and the event stream for open pages."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.streaming.responses import events_streamed
from refinement.views.runs.page import partial, shown_run


@require_safe
@project_view()
def run_live(request: ProjectRequest, run: int) -> HttpResponse:
    """The run's page, which reloads itself for browsers without script; for htmx, only the run's state."""
    if partial(request):
        context = {"run": run_or_404(request, run, whole=False)}
        return render(request, "refinement/runs/_live_state.html", context)
    found = run_or_404(request, run)
    return shown_run(request, found, reloads=not found.is_finished)


@require_safe
@project_view()
def run_events(request: ProjectRequest, run: int) -> HttpResponse:
    """Streams the run's events until it ends or the user loses access.

    A stream with `stay` continues after the run ends, because people may continue the run.
    """
    found = run_or_404(request, run, whole=False)
    return events_streamed(request, found, session=request.session.session_key or "", html=True)
