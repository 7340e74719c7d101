"""Checks webhook URLs and the addresses that they resolve to."""

import ipaddress
import socket
from collections.abc import Iterable
from threading import Thread

import httpcore
import httpx

from refinement.webhooks.networks import Network

MOST_CHARS = 500
LOOK_UP_SECONDS = 3.0
Number = ipaddress.IPv4Address | ipaddress.IPv6Address
# IPv6 networks whose last 32 bits are an IPv4 address that a translator would connect to.
EMBEDDING = tuple(
    ipaddress.IPv6Network(text)
    for text in (
        "::/96",  # IPv4-compatible
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated, RFC 2765
        "64:ff9b::/96",  # NAT64
    )
)
# Not public, although some Python versions treat them as global.
NEVER_PUBLIC: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in ("64:ff9b:1::/48", "2001::/32", "fec0::/10", "192.88.99.0/24", "168.63.129.16/32")
)


class AddressRefused(Exception):
    """The address is not allowed for webhooks. The message says what to do."""


def address_problem(address: str) -> str:
    """Why the URL is not valid; empty if it is."""
    if len(address) > MOST_CHARS:
        return f"The URL has {len(address):,} characters; the limit is {MOST_CHARS}."
    if not address.isprintable() or " " in address:
        return "The URL must not contain spaces or control characters."
    try:
        url = httpx.URL(address)
        problem = _parts_problem(url)
    except (httpx.InvalidURL, UnicodeError, ValueError):
        return "This is not a valid URL. Example: https://example.org/hook."
    return problem


def _parts_problem(url: httpx.URL) -> str:
    if url.scheme not in ("http", "https"):
        return "The URL must start with https:// or http://."
    if not url.host:
        return "The URL has no host. Example: https://example.org/hook."
    if "%" in url.host:
        return "The host must not contain %. Remove the zone of an IPv6 address, such as %eth0."
    if url.userinfo:
        return "Remove the user name and password: everyone who can see the webhook would see them."
    if url.fragment:
        return "Remove the part after #: it is never sent to a server."
    return "" if url.port is None or 0 < url.port < 65_536 else "The port must be a number from 1 to 65535."


def destination_problem(address: str, allowed: Iterable[Network]) -> str:
    """Why the URL's host is not allowed; empty if it is.

    An unknown host name is allowed here. Workers may be able to resolve it, and check again.
    """
    url = httpx.URL(address)
    host = url.raw_host.decode()
    try:
        refuse_inner(host, look_up(host, port_of(url), LOOK_UP_SECONDS), allowed)
    except AddressRefused as refused:
        return str(refused)
    except (httpcore.ConnectError, httpcore.ConnectTimeout):
        return ""
    return ""


def look_up(host: str, port: int, seconds: float) -> list[str]:
    """The IP addresses of a host, without duplicates. Raises httpcore errors.

    Runs in a thread that is abandoned on timeout: nothing else limits a resolver that hangs.
    """
    found: list[str] = []
    problems: list[Exception] = []

    def resolve() -> None:
        try:
            found.extend(
                str(target[0]) for *_, target in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            )
        except (OSError, UnicodeError) as error:  # the latter for a name that no name service could hold
            problems.append(error)

    thread = Thread(target=resolve, daemon=True, name="name-lookup")
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise httpcore.ConnectTimeout(f"The name {host} was not resolved in time.")
    if problems:
        raise httpcore.ConnectError(str(problems[0])) from problems[0]
    return list(dict.fromkeys(found))


def port_of(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def refuse_inner(host: str, numbers: Iterable[str], allowed: Iterable[Network]) -> None:
    """Raises AddressRefused if any IP address is not allowed, even if others are."""
    networks = tuple(allowed)
    for number in numbers:
        if not may_reach(number, networks):
            named = number if number == host else f"{host} ({number})"
            raise AddressRefused(
                f"{named} is in a private or reserved network, which webhooks must not use. Use a public "
                "address, or ask an administrator to allow the network with WIGGUM_WEBHOOK_PRIVATE."
            )


def may_reach(number: str, allowed: Iterable[Network]) -> bool:
    """Whether this is a public IP address, or in an allowed network."""
    plain = embedded_ipv4(ipaddress.ip_address(number.partition("%")[0]))
    if plain.is_multicast or plain.is_unspecified:
        return False
    if any(plain in network for network in allowed):
        return True
    return plain.is_global and not any(plain in network for network in NEVER_PUBLIC)


def embedded_ipv4(number: Number) -> Number:
    """The IPv4 address embedded in an IPv6 address, or the address itself."""
    if isinstance(number, ipaddress.IPv4Address) or number.is_loopback or number.is_unspecified:
        return number
    if any(number in network for network in EMBEDDING):
        return ipaddress.IPv4Address(int(number) & 0xFFFF_FFFF)
    return number.sixtofour or number
