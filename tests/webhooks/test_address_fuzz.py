"""Hostile addresses: none breaks the check, and none reaches a private network."""

import ipaddress
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from refinement.webhooks.addresses import address_problem, destination_problem, may_reach

# Everything in the registries of special addresses that is not simply public.
SPECIAL = [
    ipaddress.ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
]
PRIVATE = [
    network
    for network in SPECIAL
    if network.prefixlen < 24 and str(network) not in ("0.0.0.0/8", "224.0.0.0/4")
]
Embed = Callable[[IPv4Address], str]


def last_bits(prefix: str) -> Embed:
    return lambda inner: str(IPv6Address(int(IPv6Address(prefix)) | int(inner)))


def six_to_four(inner: IPv4Address) -> str:
    return str(IPv6Address(0x2002 << 112 | int(inner) << 80 | 1))


def teredo_server(inner: IPv4Address) -> str:
    return str(IPv6Address(0x2001_0000 << 96 | int(inner) << 64 | 1))


def teredo_client(inner: IPv4Address) -> str:
    return str(IPv6Address(0x2001_0000 << 96 | int(inner) ^ 0xFFFF_FFFF))


# In every one of these ways an IPv6 address leads to an IPv4 machine.
EMBEDDINGS: dict[str, Embed] = {
    "plain": str,
    "compatible": last_bits("::"),
    "mapped": last_bits("::ffff:0:0"),
    "translated": last_bits("::ffff:0:0:0"),
    "NAT64": last_bits("64:ff9b::"),
    "local NAT64": last_bits("64:ff9b:1::"),
    "6to4": six_to_four,
    "Teredo server": teredo_server,
    "Teredo client": teredo_client,
}
REACHED = ("plain", "mapped", "translated", "NAT64", "6to4")

hosts = st.one_of(
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map(lambda number: f"[{number}]"),
    st.builds("[{}%{}{}]".format, st.ip_addresses(v=6), st.sampled_from(["", "25"]), st.text(max_size=8)),
    st.integers(0, 2**33).map(str),
    st.integers(0, 2**32).map(hex),
    st.text("0123456789.:xabcdef[]%", max_size=40),
    st.text(max_size=30),
)
tails = st.one_of(st.just(""), st.integers(-1, 70_000).map(":{}".format), st.text(max_size=10))
addresses = st.one_of(
    st.text(max_size=60),
    st.builds("{}://{}{}/{}".format, st.sampled_from(["http", "https"]), hosts, tails, st.text(max_size=10)),
)


def problem_of(address: str) -> str:
    """The message for an owner who saves this address."""
    return address_problem(address) or destination_problem(address, ())


@given(addresses)
@settings(max_examples=1_000)
@example("http://[fe80::1%25lo]/")
@example("http://[::1%25lo]/")
@example("http://exa%6dple.example/")
@example("http://127.0.0.1./")
@example("http://\u2488.0.0.1/")
def test_every_address_is_accepted_or_refused_with_words(address):
    assert isinstance(problem_of(address), str)


@pytest.mark.parametrize("way", EMBEDDINGS)
@given(data=st.data())
def test_no_address_leads_into_a_private_network(way, data):
    inner = data.draw(st.sampled_from(PRIVATE).flatmap(lambda network: st.ip_addresses(network=network)))
    outer = EMBEDDINGS[way](inner)
    host = f"[{outer}]" if ":" in outer else outer

    assert not may_reach(outer, ())
    assert "private or reserved network" in problem_of(f"https://{host}/hook")


@pytest.mark.parametrize("way", REACHED)
@given(inner=st.ip_addresses(v=4).filter(lambda number: not any(number in network for network in SPECIAL)))
def test_public_addresses_are_reached(way, inner):
    assert may_reach(EMBEDDINGS[way](inner), ())


@given(
    st.ip_addresses(network="fc00::/7") | st.ip_addresses(network="fe80::/10") | st.just(IPv6Address("::1"))
)
def test_private_ipv6_networks_are_not_reached(number):
    assert "private or reserved network" in problem_of(f"https://[{number}]/")
