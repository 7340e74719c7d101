"""Members of a project: list, roles, removal, leaving."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from refinement.access.projects import AS_A, ProjectRequest, project_view
from refinement.forms.people.members import InvitationForm, RoleForm
from refinement.models import MemberRole
from refinement.selectors.people.members import invitations_of, members_of
from refinement.services.people.memberships import (
    LAST_OWNER,
    LastOwner,
    member_leave,
    member_remove,
    member_role_change,
)


@require_safe
@project_view()
def member_list(request: ProjectRequest) -> HttpResponse:
    """The members; for owners also the invitations."""
    return render(request, "refinement/people/members.html", members_context(request))


def members_context(
    request: ProjectRequest, form: InvitationForm | None = None, more: Mapping[str, object] | None = None
) -> dict[str, Any]:
    """The page's context; a rejected form is shown again."""
    is_owner = request.membership.is_owner
    return {
        "section": "members",
        "tab": "members",
        "is_owner": is_owner,
        "members": list(members_of(request.project)),
        "invitations": list(invitations_of(request.project)) if is_owner else [],
        "roles": MemberRole.choices,
        "form": form or InvitationForm(can_mail=settings.MAIL_CONFIGURED),
        **(more or {}),
    }


@require_POST
@project_view(role="owner")
def member_role(request: ProjectRequest, member: int) -> HttpResponse:
    """Changes a member's role."""
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _refused(request, "Choose a role: viewer, editor or owner.", status=422)
    role = form.cleaned_data["role"]
    try:
        changed = member_role_change(project=request.project, user_id=member, role=role, by=request.user)
    except LastOwner:
        return _refused(request, LAST_OWNER)
    if changed:
        messages.success(request, f"Role changed: now {AS_A[MemberRole(role)]}.")
    return redirect("member_list", request.project.slug)


@require_POST
@project_view(role="owner")
def member_removal(request: ProjectRequest, member: int) -> HttpResponse:
    """Removes a member; their work stays."""
    try:
        gone = member_remove(project=request.project, user_id=member, by=request.user)
    except LastOwner:
        return _refused(request, LAST_OWNER)
    messages.success(request, f"{gone.user.display_name} is no longer in this project.")
    return _back(request, gone.user_id)


@require_POST
@project_view()
def member_leaving(request: ProjectRequest) -> HttpResponse:
    """Leaves the project."""
    try:
        member_leave(project=request.project, user=request.user)
    except LastOwner:
        return _refused(request, LAST_OWNER)
    messages.success(request, f"You left {request.project.name}.")
    return _back(request, request.user.pk)


def _back(request: ProjectRequest, gone: int) -> HttpResponse:
    # A former member gets 404 on the project's pages, so redirect to the start page.
    if gone == request.user.pk:
        return redirect("home")
    return redirect("member_list", request.project.slug)


def _refused(request: ProjectRequest, reason: str, status: int = 409) -> HttpResponse:
    page = members_context(request, more={"refusal": reason})
    return render(request, "refinement/people/members.html", page, status=status)
