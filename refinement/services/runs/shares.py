"""Links that show one run to people without an account: made, opened, revoked."""

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
TOKEN_CHARS = 43  # as it is written in an address
PREFIX_CHARS = 6
LIFETIMES = (1, 7, 30, 90)  # days
MOST_OPEN = 50  # of one run: more than that is nobody's intention
_record = AuditOf("share link")


class SharingOff(Exception):
    """An owner switched share links off in this project."""


class TooManyLinks(Exception):
    """The run has as many open links as it can have."""


class ShareGone(Exception):
    """There is no such link, or it was revoked, has expired or is switched off: nobody is told which."""


@transaction.atomic
def share_link_make(
    *, run: Run, by: User, days: int, show_prompts: bool = False, show_comments: bool = False, note: str = ""
) -> tuple[ShareLink, str]:
    """The link, and the token that is shown once; raises SharingOff, TooManyLinks, PermissionDenied."""
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
    _record("share.create", link, by, after=_said(link))
    return link, token


@transaction.atomic
def share_link_revoke(*, project: Project, number: int, by: User) -> tuple[ShareLink, bool]:
    """The link, which no longer works, and whether it still did; raises NotFound, PermissionDenied."""
    _project_locked(project.pk, by)
    found = ShareLink.objects.filter(project=project, pk=number)
    link = found.first()
    if link is None:
        raise NotFound("There is no such share link in this project.")
    if link.state != "open" or not found.filter(revoked_at=None).update(revoked_at=timezone.now()):
        return link, False
    _record("share.revoke", link, by, before=_said(link))
    return link, True


def share_link_for(token: str) -> ShareLink:
    """The link behind a token, if it works now; raises ShareGone after the same work for every reason."""
    digest = share_digest(token)
    link = ShareLink.objects.select_related("project").filter(digest=digest).first()
    # The index finds a digest, which tells nothing about the token; compared once more without haste.
    same = hmac.compare_digest(link.digest if link else "0" * len(digest), digest)
    works = link is not None and link.state == "open" and link.project.sharing
    if link is None or not same or not works:
        raise ShareGone
    return link


def share_link_opened(link: ShareLink) -> None:
    """Counts a visit; those who made the link see when it was last used."""
    ShareLink.objects.filter(pk=link.pk).update(opened=F("opened") + 1, last_opened_at=timezone.now())


def share_digest(token: str) -> str:
    """What is kept of a token: enough to know it again, not enough to use it."""
    # One byte too many makes it another token, so that nothing longer than a token is ever worked on.
    return hashlib.sha256(token[: TOKEN_CHARS + 1].encode()).hexdigest()


def _project_locked(project_id: int, by: User) -> Project:
    """The project as it is now, while its settings and members stay as they are."""
    project = Project.objects.get(pk=project_id)
    project_lock(project)
    project.refresh_from_db()
    roles = (MemberRole.EDITOR, MemberRole.OWNER)
    if not Membership.objects.filter(project=project, user=by, role__in=roles, user__is_active=True).exists():
        raise PermissionDenied(f"You may no longer share runs of {project.name}; an owner changed that.")
    return project


def _said(link: ShareLink) -> dict[str, object]:
    return {
        "run": link.run_id,
        "link": f"{link.prefix}…",
        "expires": f"{link.expires_at:%Y-%m-%d %H:%M} UTC",
        "prompts": link.show_prompts,
        "comments": link.show_comments,
        "note": link.note,
    }


OFF = "Sharing is switched off in this project. An owner can switch it on in the project’s settings."


TOO_MANY = f"This run has {MOST_OPEN} open links already. Revoke one of them first."
