"""Run exports: one as JSON, report or text, many as CSV or JSON lines."""

from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.downloads import exported, many_exported
from refinement.services.reviews.blind_readings import scores_seen_record
from refinement.views.runs.asked import requested_runs

MANY_FORMS = ("csv", "jsonl")


@require_safe
@never_cache
@project_view()
def run_export(request: ProjectRequest, run: int, form: str) -> StreamingHttpResponse:
    """Downloads a run: everything, a report, or the best candidate."""
    found = run_or_404(request, run)
    if form != "txt":
        scores_seen_record(runs=[found], user=request.user)
    return exported(request, found, form)


@require_safe
@never_cache
@project_view()
def run_export_many(request: ProjectRequest, form: str) -> HttpResponseBase:
    """Downloads the selected or filtered runs, one per line."""
    if form not in MANY_FORMS:
        raise Http404(f"Runs cannot be exported as {form[:20]!r}.")
    runs = requested_runs(request)
    if runs is None:
        # The list shows each filter's error.
        return redirect(f"{reverse('run_list', args=[request.project.slug])}?{request.GET.urlencode()}")
    return many_exported(request, runs, form)
