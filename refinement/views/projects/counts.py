"""The counts in the top bar of an open page."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from refinement.access.projects import ProjectRequest, project_view


@require_safe
@project_view()
def project_counts(request: ProjectRequest) -> HttpResponse:
    """The user's unread notices and open review requests; without htmx, the project's home."""
    if not request.htmx:
        return redirect("project_home", request.project.slug)
    return render(request, "_nav_counts.html")
