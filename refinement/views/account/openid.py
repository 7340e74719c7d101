"""Sign-in with the instance's OpenID Connect provider."""

import hmac
import logging
import time
from dataclasses import asdict
from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from refinement.access.limits import Limit
from refinement.identity.openid import (
    Attempt,
    OpenIDFailure,
    Person,
    ProviderUnreachable,
    authorization_address,
    person_behind,
)
from refinement.identity.settings import OpenIDSettings
from refinement.models import User
from refinement.services.people.identities import EmailConnected, EmailUnverified, NoAccount, person_match

logger = logging.getLogger(__name__)
PENDING = "openid"
ATTEMPTS = Limit("provider", most=30, seconds=300)  # each calls the provider
PENDING_SECONDS = 600
CODE_CHARS = 4_000
REFUSALS = {
    "unreachable": "The sign-in provider cannot be reached or sent an invalid answer. Try again later.",
    "cancelled": "You did not finish signing in at the provider. Start again.",
    "stale": "This attempt expired or was started in another window. Start again from the sign-in page.",
    "unproven": "The provider's answer could not be verified, so you were not signed in. Start again.",
    "mail": "The provider has not verified your email address. Verify it there, then start again.",
    "nobody": "You have no account here. Ask your team for an invitation and open its link first.",
    "another": "The account with your email address belongs to another user of the provider. Ask an "
    "administrator to reset its sign-in.",
}


@login_not_required
@never_cache
@require_safe
def begin(request: HttpRequest) -> HttpResponse:
    """Redirects to the provider, and stores in the session what its answer must match."""
    known = _settings()
    if ATTEMPTS.is_reached(request):
        return render(request, "429.html", status=429)
    ATTEMPTS.note(request)
    attempt = Attempt.new()
    try:
        address = authorization_address(known, attempt, _back_to(request))
    except OpenIDFailure as failure:
        return _failed(request, known, failure)
    request.session[PENDING] = {
        **asdict(attempt),
        "at": int(time.time()),
        "next": _next(request),
        "invitation": request.GET.get("invitation", "")[:100],
    }
    return HttpResponseRedirect(address)


@sensitive_variables("code", "pending")
@login_not_required
@never_cache
@require_safe
def callback(request: HttpRequest) -> HttpResponse:
    """Handles the provider's redirect. Signs in only if every check passes."""
    known = _settings()
    pending: dict[str, Any] = request.session.pop(PENDING, None) or {}
    if not _fits(request, known, pending):
        return _refused(request, known, "stale")
    code = request.GET.get("code", "")
    if request.GET.get("error") or not 0 < len(code) <= CODE_CHARS:
        return _refused(request, known, "cancelled")
    attempt = Attempt(pending["state"], pending["nonce"], pending["verifier"])
    try:
        person = person_behind(known, attempt, code, _back_to(request))
    except OpenIDFailure as failure:
        return _failed(request, known, failure)
    return _signed_in(request, known, person, pending)


def _signed_in(
    request: HttpRequest, known: OpenIDSettings, person: Person, pending: dict[str, Any]
) -> HttpResponse:
    try:
        user, how = person_match(issuer=known.issuer, person=person, invitation=pending["invitation"])
    except EmailUnverified:
        return _refused(request, known, "mail")
    except EmailConnected:
        return _refused(request, known, "another")
    except NoAccount:
        return _refused(request, known, "nobody")
    if how != "known":
        messages.info(request, f"You can now sign in with {known.name}.")
    # An invited user is already in the project; the invitation page would say that it was used.
    return _perform(request, user, "" if how == "invited" else pending["next"])


def _perform(request: HttpRequest, user: User, then: str) -> HttpResponse:
    """The common sign-in: rejects deactivated accounts and asks for a second factor."""
    record_authentication(request, user, "openid")
    answer: HttpResponse = perform_login(request, user, email_verification="none", redirect_url=then or None)
    return answer


def _settings() -> OpenIDSettings:
    known: OpenIDSettings | None = settings.OPENID_CONNECT
    if known is None:
        raise Http404("This instance has no sign-in provider.")
    return known


def _back_to(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("openid_callback"))


def _next(request: HttpRequest) -> str:
    where = request.GET.get("next", "")
    allowed = url_has_allowed_host_and_scheme(where, allowed_hosts=None)
    return where if allowed and where.startswith("/") and len(where) <= 2_000 else ""


def _fits(request: HttpRequest, known: OpenIDSettings, pending: dict[str, Any]) -> bool:
    """Whether this browser started this attempt recently, with this provider."""
    state = request.GET.get("state", "")
    same = hmac.compare_digest(str(pending.get("state", "")).encode(), state.encode())
    recent = time.time() - int(pending.get("at", 0)) < PENDING_SECONDS
    return bool(pending) and same and recent and request.GET.get("iss", known.issuer) == known.issuer


def _failed(request: HttpRequest, known: OpenIDSettings, failure: OpenIDFailure) -> HttpResponse:
    logger.warning("sign-in by %s failed: %s", known.issuer, failure)
    unreachable = isinstance(failure, ProviderUnreachable)
    return _refused(request, known, "unreachable" if unreachable else "unproven")


def _refused(request: HttpRequest, known: OpenIDSettings, reason: str) -> HttpResponse:
    page = {"provider": known, "refusal": REFUSALS[reason]}
    status = 502 if reason == "unreachable" else 403
    return render(request, "account/openid_refused.html", page, status=status)
