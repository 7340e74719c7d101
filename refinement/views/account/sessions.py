"""Ending sessions from the account page."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from refinement.access.projects import SignedInRequest
from refinement.services.people.sessions import other_sessions_end, session_end


@require_POST
def session_revocation(request: SignedInRequest, session: int) -> HttpResponse:
    """Signs one of the reader's browsers out; somebody else's is not found and stays."""
    if session_end(user=request.user, info=session):
        messages.success(request, "That browser is signed out.")
    else:
        messages.info(request, "That browser was signed out before.")
    return redirect("account")


@require_POST
def other_sessions_revocation(request: SignedInRequest) -> HttpResponse:
    """Signs the reader out everywhere else."""
    ended = other_sessions_end(user=request.user, but=request.session.session_key)
    messages.success(
        request, "You are signed out everywhere else." if ended else "There was no other session."
    )
    return redirect("account")
