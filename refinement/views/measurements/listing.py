"""The list of a project's measurements."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import MeasurementKind
from refinement.selectors.trust.measurements.lists import A_PAGE, measurements_of


@require_safe
@project_view()
def measurement_list(request: ProjectRequest) -> HttpResponse:
    """Newest first, by kind if one is chosen."""
    before = request.GET.get("before", "")
    number = int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None
    kind = request.GET.get("kind", "")
    lines = measurements_of(request.project, kind=kind, before=number)
    page = {
        "section": "trust",
        "lines": lines[:A_PAGE],
        "older": lines[A_PAGE - 1].row.pk if len(lines) > A_PAGE else None,
        "kind": kind if kind in MeasurementKind.values else "",
        "kinds": MeasurementKind.choices,
        "can_edit": can_edit(request),
    }
    return render(request, "refinement/measurements/list.html", page)
