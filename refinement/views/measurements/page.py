"""A measurement's page: how far it is, and a replay's results."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import can_edit, measurement_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import Measurement
from refinement.selectors.trust.measurements.page import mark_of, measurement_facts, report_of
from refinement.selectors.trust.measurements.progress import progress_of

NO_CHANGE = 204
STOP_POLLING = 286  # htmx swaps the response and stops polling


@require_safe
@project_view()
def measurement_page(request: ProjectRequest, measurement: int) -> HttpResponse:
    """The page, or for htmx its content; nothing (204) if the page shows what is there already."""
    found = measurement_or_404(request, measurement)
    if not is_partial(request):
        return shown_measurement(request, found)
    mark = request.GET.get("mark")
    if mark and mark == mark_of(found, progress_of(found), report_of(found)) and not found.is_finished:
        return HttpResponse(status=NO_CHANGE)
    return shown_measurement(request, found)


def is_partial(request: ProjectRequest) -> bool:
    return bool(request.htmx) and not request.htmx.boosted


def shown_measurement(request: ProjectRequest, measurement: Measurement, **more: Any) -> HttpResponse:
    facts = measurement_facts(measurement, request.GET.get("show", ""))
    page = {
        "section": "trust",
        "measurement": measurement,
        "facts": facts,
        "version": measurement.rubric_version,
        "can_edit": can_edit(request),
        **more,
    }
    name = "_page" if is_partial(request) else "page"
    status = STOP_POLLING if is_partial(request) and not facts.is_live else 200
    return render(request, f"refinement/measurements/{name}.html", page, status=status)
