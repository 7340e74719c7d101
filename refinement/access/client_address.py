"""The client address of a request: for the audit log, the sessions page and rate limits."""

import ipaddress
from contextlib import suppress
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest

# Empty outside a request: the command line and workers come from nowhere else.
origin: ContextVar[str] = ContextVar("origin", default="")
# The token that a script acts with, in words; empty where a person acts by themselves.
means: ContextVar[str] = ContextVar("means", default="")
IPV6_PREFIX = 64  # one subscriber has at least this much: single addresses are not worth counting


def address_of(request: HttpRequest) -> str:
    """The client's IP address, or an empty string if it is unknown.

    Each trusted proxy appends the address it was called from to X-Forwarded-For. With N of them, the Nth
    entry from the right is the client; everything to its left may be forged. A request with fewer entries
    did not pass all proxies, so nothing in the header is believed.
    """
    proxies = settings.TRUSTED_PROXIES
    entries = request.headers.get("X-Forwarded-For", "").split(",")
    forwarded = entries[-proxies] if 0 < proxies <= len(entries) else ""
    return _address(forwarded) or _address(request.META.get("REMOTE_ADDR") or "")


def network_of(address: str) -> str:
    """What rate limits count as one client: an IPv4 address, or the network of an IPv6 address."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))


def _address(text: str) -> str:
    """A plain address from a header entry, some of which have a port, brackets or a zone."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    with suppress(ValueError):
        number = ipaddress.ip_address(text.partition("%")[0])
        return str(getattr(number, "ipv4_mapped", None) or number)
    return ""
