"""Project settings, for owners."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.projects.sharing import ProjectSettingsForm
from refinement.models import Project
from refinement.selectors.projects.budgets import budget_of
from refinement.selectors.runs.shares import links_of_project
from refinement.services.projects.settings import (
    SETTINGS,
    SettingsChanged,
    project_settings_change,
    settings_mark,
)


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="owner")
def project_settings(request: ProjectRequest) -> HttpResponse:
    """Name, blind scoring, sharing, budget, and all share links."""
    if request.method != "POST":
        return _page(request, _form_of(request.project))
    form = ProjectSettingsForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        changed = project_settings_change(project=request.project, by=request.user, **form.cleaned_data)
    except SettingsChanged as conflict:
        return _conflict(request, form, conflict.project)
    messages.success(request, "Settings saved.") if changed else messages.info(request, "No changes.")
    return redirect("project_settings", request.project.slug)


def _form_of(project: Project) -> ProjectSettingsForm:
    values = {name: getattr(project, name) for name in SETTINGS}
    return ProjectSettingsForm(initial={**values, "seen": settings_mark(project)})


def _conflict(request: ProjectRequest, form: ProjectSettingsForm, now: Project) -> HttpResponse:
    """Shows the typed values next to the current ones; saving again overwrites them."""
    typed = {**form.cleaned_data, "seen": settings_mark(now)}
    return _page(request, ProjectSettingsForm(initial=typed), status=409, now=now)


def _page(
    request: ProjectRequest, form: ProjectSettingsForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    page = {
        "section": "members",
        "tab": "settings",
        "is_owner": True,
        "form": form,
        "links": list(links_of_project(request.project)),
        "budget": budget_of(request.project),
        **more,
    }
    return render(request, "refinement/share/settings.html", page, status=status)
