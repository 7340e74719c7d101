"""Links for people outside: invitations and share links."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

LOCAL = ("localhost", "127.", "::1", "0.0.0.0")  # noqa: S104  compared, not bound


def public_link(request: HttpRequest, path: str) -> str:
    """The absolute URL of a path: at WIGGUM_SITE_URL if it is set, else at the address of this request."""
    return f"{settings.SITE_URL}{path}" if settings.SITE_URL else request.build_absolute_uri(path)


def is_local(link: str) -> bool:
    """Whether the link works only on the computer that runs Wiggum."""
    return (urlsplit(link).hostname or "").startswith(LOCAL)
