"""Invitations to a project: created, emailed and revoked by its owners."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from refinement.access.projects import ProjectRequest, project_view
from refinement.access.public_links import is_local, public_link
from refinement.forms.people.members import InvitationForm
from refinement.services.people.invitation_mail import invitation_mailed
from refinement.services.people.invitations import invitation_make, invitation_revoke
from refinement.views.people.members import members_context


@sensitive_variables("token", "link")
@require_POST
@never_cache
@project_view(role="owner")
def invitation_create(request: ProjectRequest) -> HttpResponse:
    """Creates a link and shows it once; emails it if an address is given."""
    form = InvitationForm(request.POST, can_mail=settings.MAIL_CONFIGURED)
    if not form.is_valid():
        page = members_context(request, form)
        return render(request, "refinement/people/members.html", page, status=422)
    invitation, token = invitation_make(
        project=request.project,
        role=form.cleaned_data["role"],
        days=int(form.cleaned_data["days"]),
        email=form.cleaned_data.get("email", ""),
        note=form.cleaned_data["note"],
        by=request.user,
    )
    link = public_link(request, reverse("join", args=[token]))
    made: dict[str, object] = {
        "made": invitation,
        "link": link,
        "is_local": is_local(link),
        "mailed": invitation_mailed(request, invitation, link),
    }
    # Only a hash of the token is stored, so it can be shown only in this response.
    answer = render(
        request, "refinement/people/members.html", members_context(request, more=made), status=201
    )
    answer.headers["Cache-Control"] = "no-store, private"
    return answer


@require_POST
@project_view(role="owner")
def invitation_revocation(request: ProjectRequest, invitation: int) -> HttpResponse:
    """Revokes the link."""
    if invitation_revoke(project=request.project, number=invitation, by=request.user):
        messages.success(request, "Invitation revoked. Its link no longer works.")
    else:
        messages.info(request, "The invitation was already used or revoked.")
    return redirect("member_list", request.project.slug)
