"""A project's home page, the redirect to it, and new projects."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from refinement.access.projects import ProjectRequest, SignedInRequest, project_view
from refinement.forms.projects.create import ProjectForm
from refinement.providers.sorting import display_address
from refinement.selectors.endpoints import fixed_specs
from refinement.selectors.experiments.lists import experiments_for_home
from refinement.selectors.health import (
    EndpointsPart,
    EndpointState,
    Part,
    broker_health,
    database_health,
    endpoint_health,
    worker_health,
)
from refinement.selectors.launch.warnings import EMBEDDED
from refinement.selectors.projects.example import hero
from refinement.selectors.projects.home import home_of, stalled_count
from refinement.selectors.projects.lists import current_project
from refinement.services.people.accounts import project_create
from refinement.services.people.setup_links import accounts

System: TypeAlias = list[tuple[str, Part, bool]]
OLLAMA = "ollama"
BUILT_IN = (OLLAMA, EMBEDDED)  # there without being added


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Redirects to the last used project, or explains how to join one, or how to set Wiggum up."""
    if not request.user.is_authenticated:
        if accounts().exists():
            return redirect_to_login(request.get_full_path())
        return render(request, "refinement/welcome_first.html")
    project = current_project(request.user, request.session.get("project"))
    if project is None:
        return render(request, "refinement/project_none.html")
    return redirect("project_home", project.slug)


@require_safe
@project_view()
def project_home(request: ProjectRequest) -> HttpResponse:
    """A project's start page: a tour and first steps, or what needs its reader."""
    system = system_state()
    home = home_of(request.membership)
    own_model = has_own_model(system)
    stalled = 0 if own_model else stalled_count(request.project)
    page = {
        "section": "home",
        "home": home,
        "can_edit": request.membership.can_edit,
        "problems": problems_of(system, {} if stalled else home.waiting),
        "stalled": stalled,
        "experiments": experiments_for_home(request.project),
        "hides": bool(request.blind_runs),
        "has_own_model": own_model,
        **models_context(system),
    }
    if not home.has_result:
        page |= {"hero": hero()}
    return render(request, "refinement/project_home.html", page)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is broken, in one line."""

    name: str
    message: str


def problems_of(system: System, waiting: Mapping[str, int]) -> list[Problem]:
    """What is broken. A model server that nobody added and no run waits for is not."""
    found = [Problem(name, part["message"]) for name, part, needed in system if needed and not part["ok"]]
    for endpoint in endpoints_in(system):
        count = waiting.get(endpoint["name"], 0)
        if endpoint["ok"] or not (count or endpoint["name"] not in BUILT_IN):
            continue
        waits = (
            f" {count} run{'s are' if count > 1 else ' is'} waiting and "
            f"continue{'' if count > 1 else 's'} automatically when it is back."
            if count
            else ""
        )
        found.append(Problem(f"{endpoint['name']} is down", f"{endpoint['message']}{waits}"))
    return found


def models_context(system: System) -> dict[str, object]:
    """Where Ollama was looked for, and whether the demo model can be tried."""
    states = {endpoint["name"]: endpoint["ok"] for endpoint in endpoints_in(system)}
    ollama = next((spec for spec in fixed_specs() if spec.name == OLLAMA), None)
    return {
        "ollama_address": display_address(ollama.url) if ollama else "",
        "ollama_found": states.get(OLLAMA, False),
        "has_demo_model": states.get(EMBEDDED, False),
    }


def system_state() -> System:
    """Each part's name, its health, and whether the instance needs it."""
    return [
        ("Database", database_health(), True),
        ("Queue", broker_health(), True),
        ("Worker", worker_health(), True),
        ("Model servers", endpoint_health(), False),
    ]


def endpoints_in(system: System) -> list[EndpointState]:
    return [endpoint for _, part, _ in system for endpoint in cast(EndpointsPart, part).get("endpoints", [])]


def has_own_model(system: System) -> bool:
    """Whether a model other than the embedded one is available."""
    usable = {endpoint["name"] for endpoint in endpoints_in(system) if endpoint["ok"]}
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
