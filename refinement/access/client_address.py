"""The client address of a request: for the audit log, the sessions page and rate limits."""

import ipaddress
from contextlib import suppress
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest

# Empty outside a request, on the command line and in workers.
origin: ContextVar[str] = ContextVar("origin", default="")
# A label of the API token that authenticated the request; empty for a signed-in person.
means: ContextVar[str] = ContextVar("means", default="")
IPV6_PREFIX = 64  # the smallest network that a subscriber gets


def address_of(request: HttpRequest) -> str:
    """The client's IP address, or an empty string if it is unknown.

    Each trusted proxy appends the address it was called from to X-Forwarded-For. With N of them, the Nth
    entry from the right is the client; everything to its left may be forged. A request with fewer entries
    did not pass all proxies, so the header is ignored.
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
