"""Sessions of a person: recorded for the account page, and ended from there."""

import time
from datetime import timedelta
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.http import HttpRequest
from django.utils import timezone

from refinement.access.client_address import address_of
from refinement.models import SessionInfo, User
from refinement.services.audit import audit_record

NOTED = "noted"  # key in the session: the entry's id, session key and time
NOTE_SECONDS = 300  # to avoid a write on every request
AGENT_CHARS = 300
CLEAN_AT_ONCE = 1_000
# An entry may be written shortly before its session.
ENDED_FOR = timedelta(hours=1)


def on_signed_in(sender: Any, request: HttpRequest | None, user: User, **kwargs: Any) -> None:
    if request is None or not hasattr(request, "session"):
        return
    if not request.session.session_key:
        request.session.save()
    session_note(request=request, user=user)
    _forget_ended(user)


def session_note_if_due(request: HttpRequest) -> None:
    """Update the entry after some minutes, or when the session has a new key."""
    session = getattr(request, "session", None)
    # Do not load a session that the view has not used.
    if session is None or not session.accessed or not session.session_key or SESSION_KEY not in session:
        return
    noted = session.get(NOTED) or {}
    if noted.get("key") == session.session_key and time.time() - noted.get("at", 0) < NOTE_SECONDS:
        return
    if isinstance(request.user, User):
        session_note(request=request, user=request.user)


def session_note(*, request: HttpRequest, user: User) -> None:
    """Record the address, browser and time of this session."""
    key = str(request.session.session_key)
    values = {
        "last_used_at": timezone.now(),
        "address": address_of(request),
        "agent": request.headers.get("User-Agent", "")[:AGENT_CHARS],
    }
    known = (request.session.get(NOTED) or {}).get("row", 0)
    # A password change rotates the key of the same browser's session.
    if not SessionInfo.objects.filter(pk=known, user=user).update(session_key=key, **values):
        info, _ = SessionInfo.objects.update_or_create(session_key=key, defaults={"user": user, **values})
        known = info.pk
    request.session[NOTED] = {"row": known, "key": key, "at": int(time.time())}


@transaction.atomic
def session_end(*, user: User, info: int) -> bool:
    """End one of the user's sessions. Return False if it had already ended."""
    ended = _end(SessionInfo.objects.filter(user=user, pk=info).values_list("session_key", flat=True))
    _record_ended(user, ended)
    return ended > 0


@transaction.atomic
def sessions_end(*, user: User, but: str | None = None) -> int:
    """End all of the user's sessions except the one with this key, and return how many."""
    infos = SessionInfo.objects.filter(user=user).exclude(session_key=but or "")
    return _end(infos.values_list("session_key", flat=True))


@transaction.atomic
def other_sessions_end(*, user: User, but: str | None) -> int:
    """End the user's other sessions and record it in the audit log. Return how many."""
    ended = sessions_end(user=user, but=but)
    _record_ended(user, ended)
    return ended


def _record_ended(user: User, ended: int) -> None:
    if ended:
        audit_record(
            action="session.end_others",
            object_type="person",
            object_id=user.pk,
            user=user,
            after={"person": user.email, "browsers": ended},
        )


def _end(keys: Any) -> int:
    ended = list(keys)
    Session.objects.filter(session_key__in=ended).delete()
    SessionInfo.objects.filter(session_key__in=ended).delete()
    return len(ended)


def _forget_ended(user: User) -> None:
    alive = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    SessionInfo.objects.filter(user=user).exclude(session_key__in=alive).delete()


def sessions_clean() -> int:
    """Delete a bounded number of expired sessions and orphaned entries, and return how many."""
    now = timezone.now()
    expired = Session.objects.filter(expire_date__lt=now).order_by("expire_date")
    cleaned = _end(expired.values_list("session_key", flat=True)[:CLEAN_AT_ONCE])
    session = Session.objects.filter(session_key=OuterRef("session_key"))
    ended = SessionInfo.objects.filter(~Exists(session), last_used_at__lt=now - ENDED_FOR).order_by("pk")
    return cleaned + _end(ended.values_list("session_key", flat=True)[:CLEAN_AT_ONCE])
