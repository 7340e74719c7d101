"""Members and invitations of a project, and a user's sessions."""

import re
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.models import Session
from django.db.models import Case, IntegerField, QuerySet, When
from django.utils import timezone

from refinement.access.client_address import network_of
from refinement.models import AuditEntry, Invitation, MemberRole, Membership, Project, SessionInfo, User

MOST_MEMBERS = 500
MOST_INVITATIONS = 50
MOST_SESSIONS = 50
MOST_SIGN_INS = 100
SIGN_INS_COUNT = timedelta(days=90)
BROWSERS = (
    ("Edge", r"\bEdg(e|A|iOS)?/"),
    ("Opera", r"\b(OPR|Opera)/"),
    ("Firefox", r"\b(Firefox|FxiOS)/"),
    ("Chrome", r"\b(Chrome|CriOS|Chromium|HeadlessChrome)/"),
    ("Safari", r"\bSafari/"),
    ("curl", r"^curl/"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("macOS", "Mac OS X|Macintosh"),
    ("ChromeOS", "CrOS"),
    ("Linux", "Linux"),
)


def members_of(project: Project) -> QuerySet[Membership]:
    """The members with their accounts: owners first, then by name."""
    ranks = {MemberRole.OWNER: 0, MemberRole.EDITOR: 1, MemberRole.VIEWER: 2}
    rank = Case(*(When(role=role, then=place) for role, place in ranks.items()), output_field=IntegerField())
    rows = Membership.objects.filter(project=project).select_related("user")
    return rows.order_by(rank, "user__name", "user__email")[:MOST_MEMBERS]


def invitations_of(project: Project) -> QuerySet[Invitation]:
    """The newest invitations, open and used, with their creators and users."""
    rows = Invitation.objects.filter(project=project).select_related("created_by", "used_by")
    return rows.order_by("-id")[:MOST_INVITATIONS]


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A browser session of the user."""

    info: SessionInfo
    browser: str
    is_this: bool


def sessions_of(user: User, this: str | None) -> list[SignedIn]:
    """The user's active sessions, the current one first."""
    infos = {info.session_key: info for info in SessionInfo.objects.filter(user=user)[:MOST_SESSIONS]}
    rows = Session.objects.filter(session_key__in=infos, expire_date__gt=timezone.now())
    # Changing the password invalidates sessions without deleting them.
    good = {user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()}
    alive = [infos[row.session_key] for row in rows if row.get_decoded().get(HASH_SESSION_KEY, "") in good]
    listed = [SignedIn(info, browser_label(info.agent), info.session_key == this) for info in alive]
    return sorted(listed, key=lambda entry: (not entry.is_this, -entry.info.last_used_at.timestamp()))


def browser_label(agent: str) -> str:
    """A short name for a user agent, such as "Firefox on Linux"."""
    browser = next((name for name, sign in BROWSERS if re.search(sign, agent)), "Unknown browser")
    system = next((name for name, sign in SYSTEMS if re.search(sign, agent)), "")
    return f"{browser} on {system}" if system else browser


def has_signed_in_from(email: str, network: str) -> bool:
    """Whether the user's recent sign-ins include one from this network."""
    since = timezone.now() - SIGN_INS_COUNT
    # Sign-ins have no project. The condition is there because the index starts with it.
    sign_ins = AuditEntry.objects.filter(
        project=None, user__email__iexact=email, action="session.start", at__gte=since
    )
    addresses = sign_ins.order_by("-id").values_list("address", flat=True)[:MOST_SIGN_INS]
    return network in {network_of(address) for address in addresses if address}
