"""Where the request at hand came from, for what is kept about it."""

import ipaddress
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest

# Empty outside a request: the command line and workers come from nowhere else.
origin: ContextVar[str] = ContextVar("origin", default="")
# The token that a script acts with, in words; empty where a person acts by themselves.
means: ContextVar[str] = ContextVar("means", default="")


def address_of(request: HttpRequest) -> str:
    """The reader's address; behind the proxy that ends HTTPS, the one that the proxy saw."""
    given = request.META.get("REMOTE_ADDR") or ""
    if settings.HTTPS:
        # Only the last entry is the proxy's own; whoever asks can write any number before it.
        given = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip() or given
    try:
        return str(ipaddress.ip_address(given))[:45]
    except ValueError:
        return ""
