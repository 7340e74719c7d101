"""API tokens: create, authenticate, rate-limit and revoke them."""

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

MARK = "wgm_"  # prefix of every token, for secret scanners
TOKEN_BYTES = 32  # 256 bits
TOKEN_CHARS = len(MARK) + 43
PREFIX_CHARS = len(MARK) + 6
LIFETIMES = (7, 30, 90, 365)  # days; 0 for a token that does not expire
MOST_OPEN = 50  # per person and project
NAME_CHARS = 60
SECONDS = 60
NOTED_EVERY = timedelta(minutes=1)
_record = AuditOf("token")


class TokenRefused(Exception):
    """The token is unknown, revoked or expired. Clients do not learn which."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """A token's remaining requests in the current minute."""

    limit: int
    remaining: int
    reset: int  # seconds until the next minute
    spent: bool = False


@transaction.atomic
def token_make(*, project: Project, by: User, name: str, role: str, days: int) -> tuple[ApiToken, str]:
    """Create a token; return its row and the token, which is shown once and not stored.

    Raises ValidationError, PermissionDenied.
    """
    project_lock(project)
    own = Membership.objects.filter(project=project, user=by, user__is_active=True).first()
    if own is None:
        raise PermissionDenied(f"You are no longer a member of {project.name}.")
    name = one_line(storable(name), NAME_CHARS + 1)
    validate_token(own, name, role, days)
    text = MARK + secrets.token_urlsafe(TOKEN_BYTES)
    token = ApiToken(
        project=project,
        name=name,
        role=role,
        digest=token_digest(text),
        prefix=text[:PREFIX_CHARS],
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days) if days else None,
    )
    token.full_clean()
    token.save()
    _record("token.create", token, by, after=_audit_values(token))
    return token, text


def validate_token(own: Membership, name: str, role: str, days: int) -> None:
    """Raises ValidationError with all problems by field."""
    errors: dict[str, str] = {}
    if not name:
        errors["name"] = "Enter a name that says where the token is used."
    elif len(name) > NAME_CHARS:
        errors["name"] = f"A name can have at most {NAME_CHARS} characters."
    if role not in MemberRole.values:
        errors["role"] = "Choose a role."
    elif lower_role(role, own.role) != role:
        errors["role"] = f"Your role here is {own.role}. A token cannot have a higher role than you."
    if days and days not in LIFETIMES:
        errors["days"] = f"Choose {', '.join(map(str, LIFETIMES))} days, or 0 for no expiry."
    if open_tokens(own.project).filter(created_by=own.user).count() >= MOST_OPEN:
        errors["name"] = f"You already have {MOST_OPEN} active tokens. Revoke one first."
    if errors:
        raise ValidationError(errors)


@transaction.atomic
def token_revoke(*, project: Project, number: int, by: User) -> tuple[ApiToken, bool]:
    """Revoke a token, as its creator or an owner; return it and whether it was still active.

    Raises NotFound, PermissionDenied.
    """
    project_lock(project)
    own = Membership.objects.filter(project=project, user=by, user__is_active=True).first()
    token = ApiToken.objects.filter(project=project, pk=number).first()
    if token is None or own is None:
        raise NotFound("This project has no such token.")
    if not (own.is_owner or token.created_by_id == by.pk):
        raise PermissionDenied("Only the creator of this token or a project owner can revoke it.")
    if token.revoked_at is not None:
        return token, False
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    _record("token.revoke", token, by, before=_audit_values(token))
    return token, True


def open_tokens(project: Project) -> QuerySet[ApiToken]:
    """Tokens that are neither revoked nor expired."""
    lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiToken.objects.filter(lasting, project=project, revoked_at=None)


def token_for(text: str) -> ApiToken:
    """The active token of an active member. Raises TokenRefused."""
    digest = token_digest(text)
    member = Membership.objects.filter(user=OuterRef("created_by"), project=OuterRef("project"))
    rows = ApiToken.objects.select_related("created_by", "project").annotate(is_member=Exists(member))
    token = rows.filter(digest=digest).first()
    # The index lookup reveals nothing about the token; the comparison itself takes constant time.
    same = hmac.compare_digest(token.digest if token else "0" * len(digest), digest)
    if token is None or not same or token.state != "open":
        raise TokenRefused
    if not (token.created_by.is_active and token.is_member):
        raise TokenRefused
    return token


def token_count(token: ApiToken) -> Allowance:
    """Count a request against the limit. One UPDATE statement, so that all processes share the count."""
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
    # The count from when the token was read: exact enough for the header.
    before = token.counted if token.counted_minute == minute else 0
    return Allowance(limit, max(0, limit - before - 1), reset)


def token_digest(text: str) -> str:
    """The stored hash of a token."""
    # Cut one character beyond a token's length: long input costs no time and never matches.
    return hashlib.sha256(text[: TOKEN_CHARS + 1].encode("utf-8", "replace")).hexdigest()


def _audit_values(token: ApiToken) -> dict[str, object]:
    return {
        "name": token.name,
        "token": f"{token.prefix}…",
        "role": token.role,
        "expires": f"{token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "never",
    }
