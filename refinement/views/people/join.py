"""The page of an invitation: new users create an account, existing users join."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from refinement.access.projects import AS_A
from refinement.forms.people.welcome import NewPersonForm
from refinement.models import Invitation, MemberRole, Membership, User
from refinement.services.people.invitations import (
    AddressTaken,
    AlreadyMember,
    InvitationSpent,
    invitation_accept,
    invitation_accept_new,
    invitation_for,
)

TAKEN = "An account with this email already exists. Sign in with it, then open this link again."


@sensitive_variables("token", "form")
@sensitive_post_parameters("password")
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Shows and handles the form; 410 once the link is used, revoked or expired."""
    try:
        invitation = invitation_for(token)
        answer = _answer(request, token, invitation)
    except InvitationSpent:
        answer = render(request, "refinement/people/join_spent.html", status=410)
    # The URL contains the token, so keep it out of Referer headers and caches. "no-referrer" would not work:
    # browsers then post the form with the origin "null", which is rejected.
    answer.headers["Referrer-Policy"] = "strict-origin"
    answer.headers["Cache-Control"] = "no-store, private"
    answer.headers["X-Robots-Tag"] = "noindex, nofollow"
    return answer


def _answer(request: HttpRequest, token: str, invitation: Invitation) -> HttpResponse:
    if isinstance(request.user, User):
        return _known(request, request.user, token, invitation)
    form = NewPersonForm(
        request.POST if request.method == "POST" else None, initial={"email": invitation.email}
    )
    if request.method == "POST" and form.is_valid():
        try:
            user = invitation_accept_new(token=token, **form.cleaned_data)
        except AddressTaken:
            form.add_error("email", TAKEN)
        else:
            login(request, user)
            messages.success(request, f"Welcome, {user.display_name}. Your account is ready.")
            return redirect("project_home", invitation.project.slug)
    return _page(request, invitation, form=form, token=token, status=422 if form.is_bound else 200)


def _known(request: HttpRequest, user: User, token: str, invitation: Invitation) -> HttpResponse:
    """For signed-in users: joins the project unless they are already a member."""
    project = invitation.project
    if request.method == "POST":
        try:
            invitation_accept(token=token, user=user)
        except AlreadyMember:
            return _page(request, invitation, is_member=True, status=409)
        messages.success(request, f"You are now {AS_A[MemberRole(invitation.role)]} in {project.name}.")
        return redirect("project_home", project.slug)
    is_member = Membership.objects.filter(project=project, user=user).exists()
    return _page(request, invitation, is_member=is_member)


def _page(request: HttpRequest, invitation: Invitation, status: int = 200, **more: object) -> HttpResponse:
    page = {"invitation": invitation, "as_a": AS_A[MemberRole(invitation.role)], **more}
    return render(request, "refinement/people/join.html", page, status=status)
