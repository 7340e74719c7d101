"""Where a webhook may go: which addresses are well formed, and which machines they may lead to."""

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
# IPv6 networks whose last 32 bits are an IPv4 address, to which a translator on the way would send.
EMBEDDING = tuple(
    ipaddress.IPv6Network(text)
    for text in (
        "::/96",  # IPv4-compatible
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated, RFC 2765
        "64:ff9b::/96",  # NAT64
    )
)
# Beyond what Python's registry knows as not global, in every version of it.
NEVER_PUBLIC: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in ("64:ff9b:1::/48", "2001::/32", "fec0::/10", "192.88.99.0/24", "168.63.129.16/32")
)


class AddressRefused(Exception):
    """The address leads where webhooks must not go; the message says what to do."""


def address_problem(address: str) -> str:
    """What is wrong with the writing of an address; empty if nothing is."""
    if len(address) > MOST_CHARS:
        return f"An address can have {MOST_CHARS} characters; this one has {len(address):,}."
    if not address.isprintable() or " " in address:
        return "An address has no spaces or control signs in it."
    try:
        url = httpx.URL(address)
        problem = _parts_problem(url)
    except (httpx.InvalidURL, UnicodeError, ValueError):
        return "This cannot be read as an address; write it like https://example.org/hook."
    return problem


def _parts_problem(url: httpx.URL) -> str:
    if url.scheme not in ("http", "https"):
        return "An address starts with https:// or http://."
    if not url.host:
        return "The address names no host; write it like https://example.org/hook."
    if "%" in url.host:
        return "A host has no % in it. Leave out the zone of an IPv6 address, such as %eth0."
    if url.userinfo:
        return "Leave the user name and password out: everybody who may see the webhook would see them."
    if url.fragment:
        return "Leave out what stands after the #: it never reaches a server."
    return "" if url.port is None or 0 < url.port < 65_536 else "A port is a number from 1 to 65535."


def destination_problem(address: str, allowed: Iterable[Network]) -> str:
    """Why the machine behind the address must not be reached, as far as it can be told now.

    A name that is not found is no problem here: the workers, who connect, may know it, and look again.
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
    """The numbers that a name stands for, each once; raises what httpcore raises.

    In a thread, which is left behind when time is up: nothing else bounds a name service that hangs.
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
    """Raises AddressRefused if any of the numbers is inside: a name with both kinds is a trick."""
    networks = tuple(allowed)
    for number in numbers:
        if not may_reach(number, networks):
            named = number if number == host else f"{host} ({number})"
            raise AddressRefused(
                f"{named} is inside a private or reserved network, where webhooks do not go. Use a public "
                "address, or have an administrator allow its network with WIGGUM_WEBHOOK_PRIVATE."
            )


def may_reach(number: str, allowed: Iterable[Network]) -> bool:
    """Whether this is a public address, or one of a network that an administrator allows."""
    plain = undressed(ipaddress.ip_address(number.partition("%")[0]))
    if plain.is_multicast or plain.is_unspecified:
        return False
    if any(plain in network for network in allowed):
        return True
    return plain.is_global and not any(plain in network for network in NEVER_PUBLIC)


def undressed(number: Number) -> Number:
    """The IPv4 address that an IPv6 one stands for, or the address itself."""
    if isinstance(number, ipaddress.IPv4Address) or number.is_loopback or number.is_unspecified:
        return number
    if any(number in network for network in EMBEDDING):
        return ipaddress.IPv4Address(int(number) & 0xFFFF_FFFF)
    return number.sixtofour or number
