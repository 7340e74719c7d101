"""A user's own account, and the account pages that differ from allauth's."""

from allauth.account import views as allauth_views
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from refinement.access.projects import SignedInRequest
from refinement.forms.people.accounts import ProfileForm
from refinement.selectors.people.members import sessions_of
from refinement.selectors.projects.lists import memberships_of
from refinement.services.people.accounts import profile_change


@require_http_methods(["GET", "HEAD", "POST"])
def account(request: SignedInRequest) -> HttpResponse:
    """Name, time zone, password, sessions, theme, sign-out."""
    now = {"name": request.user.name, "time_zone": request.user.time_zone}
    form = ProfileForm(request.POST if request.method == "POST" else None, initial=now)
    page = {
        "form": form,
        "memberships": memberships_of(request.user),
        "sessions": sessions_of(request.user, request.session.session_key),
    }
    if request.method != "POST":
        return render(request, "refinement/account.html", page)
    if not form.is_valid():
        return render(request, "refinement/account.html", page, status=422)
    profile_change(user=request.user, **form.cleaned_data)
    messages.success(request, "Profile saved.")
    return redirect("account")


@login_not_required
def signup_closed(request: HttpRequest) -> HttpResponse:
    """Explains how to get an account; there is no open sign-up."""
    return render(request, "account/signup_closed.html", status=403)


@login_not_required
def password_reset(request: HttpRequest) -> HttpResponseBase:
    """Reset by email if email is set up; otherwise explains what an administrator can do."""
    if settings.MAIL_CONFIGURED:
        answer: HttpResponseBase = allauth_views.password_reset(request)
        return answer
    return render(request, "account/password_reset.html", status=409 if request.method == "POST" else 200)
