"""First run: the printed link creates the first account and project."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from refinement.forms.people.welcome import WelcomeForm
from refinement.services.people.accounts import SetupLinkSpent, first_person_create, setup_link_open


@sensitive_variables("token", "form")
@sensitive_post_parameters("password")
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """Shows and handles the first-run form; 410 once the link is used."""
    if not setup_link_open(token):
        return _unreferred(render(request, "refinement/welcome_spent.html", status=410))
    form = WelcomeForm(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        return _unreferred(render(request, "refinement/welcome.html", {"form": form}))
    if not form.is_valid():
        return _unreferred(render(request, "refinement/welcome.html", {"form": form}, status=422))
    return _create(request, token, form)


def _create(request: HttpRequest, token: str, form: WelcomeForm) -> HttpResponse:
    try:
        user = first_person_create(token=token, **form.cleaned_data)
    except SetupLinkSpent:
        return _unreferred(render(request, "refinement/welcome_spent.html", status=410))
    login(request, user)
    messages.success(request, f"Welcome, {user.display_name}. Your account and project are ready.")
    return _unreferred(redirect("home"))


def _unreferred(response: HttpResponse) -> HttpResponse:
    # The URL contains the token, so keep it out of Referer headers and caches. "no-referrer" would not work:
    # browsers then post the form with the origin "null", which is rejected.
    response.headers["Referrer-Policy"] = "strict-origin"
    response.headers["Cache-Control"] = "no-store, private"
    return response
