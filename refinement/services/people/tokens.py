"""Tokens with which scripts act for a member: made, recognised, counted, revoked."""

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from refinement.models import ApiToken, MemberRole, Membership, Project, User
from refinement.selectors.projects.lists import NotFound, lower_role
from refinement.services.audit import AuditOf
from refinement.services.people.memberships import project_lock
from refinement.texts import one_line, storable

MARK = "wgm_"  # what every token begins with, so that scanners find one that was published
TOKEN_BYTES = 32  # 256 bits
TOKEN_CHARS = len(MARK) + 43
PREFIX_CHARS = len(MARK) + 6
LIFETIMES = (7, 30, 90, 365)  # days; 0 for a token that does not expire
MOST_OPEN = 50  # of one person in one project
NAME_CHARS = 60
SECONDS = 60
NOTED_EVERY = timedelta(minutes=1)
_record = AuditOf("token")


class TokenRefused(Exception):
    """No token, or one that does not work (any more): nobody is told which."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a token may still do in the minute at hand."""

    limit: int
    remaining: int
    reset: int  # seconds until the next minute begins
    spent: bool = False


@transaction.atomic
def token_make(*, project: Project, by: User, name: str, role: str, days: int) -> tuple[ApiToken, str]:
    """The row, and the token that is shown once; raises ValidationError, PermissionDenied."""
    project_lock(project)
    own = Membership.objects.filter(project=project, user=by, user__is_active=True).first()
    if own is None:
        raise PermissionDenied(f"You are no longer a member of {project.name}.")
    words = one_line(storable(name), NAME_CHARS + 1)
    refuse_odd(own, words, role, days)
    text = MARK + secrets.token_urlsafe(TOKEN_BYTES)
    token = ApiToken(
        project=project,
        name=words,
        role=role,
        digest=token_digest(text),
        prefix=text[:PREFIX_CHARS],
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days) if days else None,
    )
    token.full_clean()
    token.save()
    _record("token.create", token, by, after=_said(token))
    return token, text


def refuse_odd(own: Membership, name: str, role: str, days: int) -> None:
    """Everything that keeps a token from being made, by field."""
    found: dict[str, str] = {}
    if not name:
        found["name"] = "Give the token a name that says where it is used."
    elif len(name) > NAME_CHARS:
        found["name"] = f"A name has at most {NAME_CHARS} characters."
    if role not in MemberRole.values:
        found["role"] = "Choose a role."
    elif lower_role(role, own.role) != role:
        found["role"] = f"You are {own.role} here; a token cannot do more than the one who makes it."
    if days and days not in LIFETIMES:
        found["days"] = f"A token works for {', '.join(map(str, LIFETIMES))} days, or until it is revoked."
    if open_tokens(own.project).filter(created_by=own.user).count() >= MOST_OPEN:
        found["name"] = f"You have {MOST_OPEN} tokens that work; revoke one that is no longer used."
    if found:
        raise ValidationError(found)


@transaction.atomic
def token_revoke(*, project: Project, number: int, by: User) -> tuple[ApiToken, bool]:
    """The token, which no longer works, and whether it still did; for its maker and for owners."""
    project_lock(project)
    own = Membership.objects.filter(project=project, user=by, user__is_active=True).first()
    token = ApiToken.objects.filter(project=project, pk=number).first()
    if token is None or own is None:
        raise NotFound("There is no such token in this project.")
    if not (own.is_owner or token.created_by_id == by.pk):
        raise PermissionDenied("This token is somebody else’s; its maker or an owner can revoke it.")
    if token.revoked_at is not None:
        return token, False
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    _record("token.revoke", token, by, before=_said(token))
    return token, True


def open_tokens(project: Project) -> QuerySet[ApiToken]:
    """Those that were neither revoked nor have expired."""
    lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiToken.objects.filter(lasting, project=project, revoked_at=None)


def token_for(text: str) -> ApiToken:
    """The token of an active member, if it works now; raises TokenRefused after the same work otherwise."""
    digest = token_digest(text)
    member = Membership.objects.filter(user=OuterRef("created_by"), project=OuterRef("project"))
    rows = ApiToken.objects.select_related("created_by", "project").annotate(is_member=Exists(member))
    token = rows.filter(digest=digest).first()
    # The index finds a digest, which tells nothing about the token; compared once more without haste.
    same = hmac.compare_digest(token.digest if token else "0" * len(digest), digest)
    if token is None or not same or token.state != "open":
        raise TokenRefused
    if not (token.created_by.is_active and token.is_member):
        raise TokenRefused
    return token


def token_count(token: ApiToken) -> Allowance:
    """Counts a request, unless the minute's are spent; one statement, so that all processes share it."""
    limit, now = settings.API_RATE, time.time()
    minute, reset = int(now // SECONDS), SECONDS - int(now % SECONDS)
    moment = timezone.now()
    noted = Q(last_used_at=None) | Q(last_used_at__lt=moment - NOTED_EVERY)
    counted = (
        ApiToken.objects.filter(pk=token.pk)
        .filter(~Q(counted_minute=minute) | Q(counted__lt=limit))
        .update(
            counted=Case(When(counted_minute=minute, then=F("counted") + 1), default=Value(1)),
            counted_minute=minute,
            last_used_at=Case(When(noted, then=Value(moment)), default=F("last_used_at")),
        )
    )
    if not counted:
        return Allowance(limit, 0, reset, spent=True)
    # What was read with the token, or more if others came in between: good enough to tell how much is left.
    before = token.counted if token.counted_minute == minute else 0
    return Allowance(limit, max(0, limit - before - 1), reset)


def token_digest(text: str) -> str:
    """What is kept of a token: enough to know it again, not enough to use it."""
    # One character too many makes it another token, so that nothing longer is ever worked on.
    return hashlib.sha256(text[: TOKEN_CHARS + 1].encode("utf-8", "replace")).hexdigest()


def _said(token: ApiToken) -> dict[str, object]:
    return {
        "name": token.name,
        "token": f"{token.prefix}…",
        "role": token.role,
        "expires": f"{token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "never",
    }
