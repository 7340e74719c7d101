"""Share links, which show one run to people without an account: create, open and revoke them."""

import hashlib
import hmac
import secrets
from datetime import timedelta

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from refinement.models import MemberRole, Membership, Project, Run, ShareLink, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.audit import AuditOf
from refinement.services.people.memberships import project_lock

TOKEN_BYTES = 32  # 256 bits
TOKEN_CHARS = 43  # as it appears in the URL
PREFIX_CHARS = 6
LIFETIMES = (1, 7, 30, 90)  # days
MOST_OPEN = 50  # per run
_record = AuditOf("share link")


class SharingOff(Exception):
    """Share links are disabled in this project."""


class TooManyLinks(Exception):
    """The run has the maximum number of active links."""


class ShareGone(Exception):
    """The link does not exist, was revoked, has expired or is disabled. Visitors do not learn which."""


@transaction.atomic
def share_link_make(
    *, run: Run, by: User, days: int, show_prompts: bool = False, show_comments: bool = False, note: str = ""
) -> tuple[ShareLink, str]:
    """Create a link; return it with its token, which is shown once and not stored.

    Raises SharingOff, TooManyLinks, PermissionDenied.
    """
    project = _project_locked(run.project_id, by)
    if not project.sharing:
        raise SharingOff
    if days not in LIFETIMES:
        raise ValueError(f"a link works for one of {LIFETIMES} days, not {days}")
    now = timezone.now()
    if ShareLink.objects.filter(run=run, revoked_at=None, expires_at__gt=now).count() >= MOST_OPEN:
        raise TooManyLinks
    token = secrets.token_urlsafe(TOKEN_BYTES)
    link = ShareLink(
        project=project,
        run=run,
        digest=share_digest(token),
        prefix=token[:PREFIX_CHARS],
        note=note.strip(),
        show_prompts=show_prompts,
        show_comments=show_comments,
        created_by=by,
        expires_at=now + timedelta(days=days),
    )
    link.full_clean()
    link.save()
    _record("share.create", link, by, after=_audit_values(link))
    return link, token


@transaction.atomic
def share_link_revoke(*, project: Project, number: int, by: User) -> tuple[ShareLink, bool]:
    """Revoke the link; return it and whether it was active. Raises NotFound, PermissionDenied."""
    _project_locked(project.pk, by)
    rows = ShareLink.objects.filter(project=project, pk=number)
    link = rows.first()
    if link is None:
        raise NotFound("This project has no such share link.")
    if link.state != "open" or not rows.filter(revoked_at=None).update(revoked_at=timezone.now()):
        return link, False
    _record("share.revoke", link, by, before=_audit_values(link))
    return link, True


def share_link_for(token: str) -> ShareLink:
    """The active link of a token. Raises ShareGone, in the same time for every reason."""
    digest = share_digest(token)
    link = ShareLink.objects.select_related("project").filter(digest=digest).first()
    # The index lookup reveals nothing about the token; the comparison itself takes constant time.
    same = hmac.compare_digest(link.digest if link else "0" * len(digest), digest)
    works = link is not None and link.state == "open" and link.project.sharing
    if link is None or not same or not works:
        raise ShareGone
    return link


def share_link_opened(link: ShareLink) -> None:
    """Count a visit and note its time."""
    ShareLink.objects.filter(pk=link.pk).update(opened=F("opened") + 1, last_opened_at=timezone.now())


def share_digest(token: str) -> str:
    """The stored hash of a token."""
    # Cut one character beyond a token's length: long input costs no time and never matches.
    return hashlib.sha256(token[: TOKEN_CHARS + 1].encode()).hexdigest()


def _project_locked(project_id: int, by: User) -> Project:
    """The current project, with its settings and members locked. Raises PermissionDenied."""
    project = Project.objects.get(pk=project_id)
    project_lock(project)
    project.refresh_from_db()
    roles = (MemberRole.EDITOR, MemberRole.OWNER)
    if not Membership.objects.filter(project=project, user=by, role__in=roles, user__is_active=True).exists():
        raise PermissionDenied(f"You no longer have permission to share runs of {project.name}.")
    return project


def _audit_values(link: ShareLink) -> dict[str, object]:
    return {
        "run": link.run_id,
        "link": f"{link.prefix}…",
        "expires": f"{link.expires_at:%Y-%m-%d %H:%M} UTC",
        "prompts": link.show_prompts,
        "comments": link.show_comments,
        "note": link.note,
    }


OFF = "Sharing is disabled in this project. An owner can enable it in the project’s settings."


TOO_MANY = f"This run already has {MOST_OPEN} active links. Revoke one first."
