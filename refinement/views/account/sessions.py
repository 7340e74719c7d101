"""Ending sessions from the account page."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from refinement.access.projects import SignedInRequest
from refinement.services.people.sessions import other_sessions_end, session_end


@require_POST
def session_revocation(request: SignedInRequest, session: int) -> HttpResponse:
    """Signs out one of the user's sessions; 404 for other users' sessions."""
    if session_end(user=request.user, info=session):
        messages.success(request, "Session signed out.")
    else:
        messages.info(request, "That session was already signed out.")
    return redirect("account")


@require_POST
def other_sessions_revocation(request: SignedInRequest) -> HttpResponse:
    """Signs the user out everywhere else."""
    ended = other_sessions_end(user=request.user, but=request.session.session_key)
    messages.success(request, "Signed out everywhere else." if ended else "There are no other sessions.")
    return redirect("account")
