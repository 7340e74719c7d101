"""Administration of the instance: people, projects, endpoints and health."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from refinement.access.projects import SignedInRequest
from refinement.models import Project
from refinement.selectors.health import endpoint_health
from refinement.selectors.people.administration import (
    MOST_PEOPLE,
    MOST_PROJECTS,
    endpoints_listed,
    endpoints_off,
    people_found,
    projects_listed,
)
from refinement.services.people.administration import (
    LastAdministrator,
    person_activate,
    person_administrate,
    person_sign_in_reset,
)
from refinement.services.people.memberships import project_adopt
from refinement.views.projects.home import system_state

P = ParamSpec("P")
Answer = TypeVar("Answer", bound=HttpResponseBase)
WORDS_CHARS = 200
LAST = "The instance needs an administrator who can sign in. Make someone else an administrator first."


def administrator_view(
    view: Callable[Concatenate[SignedInRequest, P], Answer],
) -> Callable[Concatenate[HttpRequest, P], Answer]:
    """Allows administrators of the instance only."""

    @login_required
    @wraps(view)
    def guarded(request: SignedInRequest, *args: P.args, **kwargs: P.kwargs) -> Answer:
        if not request.user.is_superuser:
            raise PermissionDenied("This page is for administrators of this instance.")
        return view(request, *args, **kwargs)

    return guarded  # type: ignore[return-value]


@require_safe
@administrator_view
def people(request: SignedInRequest) -> HttpResponse:
    """All accounts, with search by name or email."""
    return _people(request)


def _people(request: SignedInRequest, refusal: str = "", status: int = 200) -> HttpResponse:
    words = request.GET.get("q", "").replace("\x00", "").strip()[:WORDS_CHARS]
    found = list(people_found(words))
    page = {
        "tab": "people",
        "words": words,
        "people": found[:MOST_PEOPLE],
        "is_cut": len(found) > MOST_PEOPLE,
        "refusal": refusal,
    }
    return render(request, "refinement/people/administration_people.html", page, status=status)


@require_POST
@administrator_view
def person_account(request: SignedInRequest, person: int) -> HttpResponse:
    """Deactivates or reactivates an account."""
    active = request.POST.get("active") == "yes"
    try:
        changed = person_activate(person_id=person, active=active, by=request.user)
    except LastAdministrator:
        return _people(request, LAST, status=409)
    if changed:
        said = "Account reactivated." if active else "Account deactivated and signed out everywhere."
        messages.success(request, said)
    return redirect("administration")


@require_POST
@administrator_view
def person_administration(request: SignedInRequest, person: int) -> HttpResponse:
    """Grants or removes admin rights."""
    administrator = request.POST.get("administrator") == "yes"
    try:
        changed = person_administrate(person_id=person, administrator=administrator, by=request.user)
    except LastAdministrator:
        return _people(request, LAST, status=409)
    if changed:
        messages.success(request, "Admin rights granted." if administrator else "Admin rights removed.")
    # A former administrator may not see the page any more.
    return redirect("home" if person == request.user.pk else "administration")


@require_POST
@administrator_view
@reauthentication_required  # type: ignore[untyped-decorator]
def sign_in_reset(request: SignedInRequest, person: int) -> HttpResponse:
    """Resets a user's sign-in after they lost their device."""
    if person_sign_in_reset(person_id=person, by=request.user):
        messages.success(request, "Second factors, passkeys and the provider link were removed.")
    else:
        messages.info(request, "There was nothing to reset.")
    return redirect("administration")


@require_safe
@administrator_view
def projects(request: SignedInRequest) -> HttpResponse:
    """All projects with their size."""
    found = list(projects_listed())
    page = {"tab": "projects", "projects": found[:MOST_PROJECTS], "is_cut": len(found) > MOST_PROJECTS}
    return render(request, "refinement/people/administration_projects.html", page)


@require_POST
@administrator_view
def adoption(request: SignedInRequest, project: int) -> HttpResponse:
    """Lets an administrator take over a project without an active owner."""
    row = get_object_or_404(Project, pk=project)
    if project_adopt(project=row, by=request.user):
        messages.success(request, f"You are now an owner of {row.name}.")
    else:
        messages.info(request, f"{row.name} has an owner who can sign in. Ask them to invite you.")
    return redirect("administration_projects")


@require_safe
@administrator_view
def system(request: SignedInRequest) -> HttpResponse:
    """Health of the parts, and the endpoints."""
    states = {entry["name"]: (entry["ok"], entry["message"]) for entry in endpoint_health()["endpoints"]}
    parts = [(name, part) for name, part, needed in system_state() if needed]
    page = {"tab": "system", "parts": parts, "endpoints": endpoints_listed(states), "off": endpoints_off()}
    return render(request, "refinement/people/administration_system.html", page)
