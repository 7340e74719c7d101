"""A run while it goes on: the step under way, and the stream that keeps open pages up to date."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.streaming.responses import events_streamed


@require_safe
@project_view()
def run_live(request: ProjectRequest, run: int) -> HttpResponse:
    """The step under way; as a page of its own it loads itself again, for browsers without script."""
    partial = request.htmx and not request.htmx.boosted
    page = {"section": "runs", "run": run_or_404(request, run, whole=False)}
    return render(request, f"refinement/runs/{'_live' if partial else 'live'}.html", page)


@require_safe
@project_view()
def run_events(request: ProjectRequest, run: int) -> HttpResponse:
    """What happens to the run, as it happens; ends with the run, or with the reader's membership.

    A stream that is to stay outlasts the run: people go on with it.
    """
    found = run_or_404(request, run, whole=False)
    return events_streamed(request, found, session=request.session.session_key or "", html=True)
