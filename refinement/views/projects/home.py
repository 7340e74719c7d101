"""A project's home page, the redirect to it, and new projects."""

import os
from typing import cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from refinement.access.projects import ProjectRequest, SignedInRequest, project_view
from refinement.forms.projects.create import ProjectForm
from refinement.selectors.health import (
    EndpointsPart,
    Part,
    broker_health,
    database_health,
    endpoint_health,
    worker_health,
)
from refinement.selectors.launch.warnings import EMBEDDED
from refinement.selectors.projects.home import home_of
from refinement.selectors.projects.lists import current_project, member_count
from refinement.selectors.reviews.requests import queue_start
from refinement.services.people.accounts import project_create

MOST_ASKED = 6


@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    """Redirects to the last used project, or explains how to join one."""
    project = current_project(request.user, request.session.get("project"))
    if project is None:
        return render(request, "refinement/project_none.html")
    return redirect("project_home", project.slug)


@require_safe
@project_view()
def project_home(request: ProjectRequest) -> HttpResponse:
    """A project's start page: active, waiting and recent runs, and first steps."""
    system = system_state()
    page = {
        "section": "home",
        "member_count": member_count(request.project),
        "system": system,
        "has_own_model": has_own_model(system),
        "home": home_of(request.project),
        "asked": queue_start(request.user, request.project, request.membership, MOST_ASKED),
        "can_edit": request.membership.can_edit,
    }
    return render(request, "refinement/project_home.html", page)


def system_state() -> list[tuple[str, Part, bool]]:
    """Each part's name, its health, and whether the instance needs it."""
    return [
        ("Database", database_health(), True),
        ("Queue", broker_health(), True),
        ("Worker", worker_health(), True),
        ("Model endpoints", endpoint_health(), False),
    ]


def has_own_model(system: list[tuple[str, Part, bool]]) -> bool:
    """Whether a model other than the embedded one is available."""
    usable = {
        endpoint["name"]
        for _, part, _ in system
        for endpoint in cast(EndpointsPart, part).get("endpoints", [])
        if endpoint["ok"]
    }
    return bool(usable - {EMBEDDED}) or bool(usable and os.environ.get("WIGGUM_GGUF", "").strip())


@require_http_methods(["GET", "HEAD", "POST"])
def project_new(request: SignedInRequest) -> HttpResponse:
    """Creates a project; for administrators of the instance."""
    if not request.user.is_superuser:
        raise PermissionDenied("Only administrators of this instance can create projects.")
    form = ProjectForm(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        return render(request, "refinement/project_new.html", {"form": form})
    if not form.is_valid():
        return render(request, "refinement/project_new.html", {"form": form}, status=422)
    project = project_create(owner=request.user, name=form.cleaned_data["name"])
    messages.success(request, f"Project {project.name} created. You are its owner.")
    return redirect("project_home", project.slug)
