"""Which addresses webhooks can have, and which machines they can reach."""

import ipaddress
import socket

import pytest

from refinement.webhooks.addresses import (
    MOST_CHARS,
    NEVER_PUBLIC,
    address_problem,
    destination_problem,
    may_reach,
)
from refinement.webhooks.networks import PRIVATE

NAMED = (ipaddress.ip_network("10.1.0.0/16"),)


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/hook",
        "http://example.org:8080/a?b=c",
        "https://bücher.example/",
        "https://[2001:db8::1111]/",
        "https://192.0.2.34",
    ],
)
def test_well_formed(address):
    assert address_problem(address) == ""


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "must start with https://"),
        ("example.org/hook", "must start with https://"),
        ("ftp://example.org/", "must start with https://"),
        ("file:///etc/passwd", "must start with https://"),
        ("https:///hook", "has no host"),
        ("https://me:word@example.org/", "Remove the user name"),
        ("https://me@example.org/", "Remove the user name"),
        ("https://example.org/#part", "after #"),
        ("https://example.org:0/", "1 to 65535"),
        ("https://example.org:99999/", "1 to 65535"),
        ("https://example.org/a b", "must not contain spaces"),
        ("https://example.org/\r\nHost: x", "spaces or control characters"),
        ("https://example.org/\x00", "control characters"),
        ("https://[::1/", "not a valid URL"),
        ("https://[fe80::1%25lo]/", "Remove the zone"),
        ("https://[fe80::1%eth0]/", "Remove the zone"),
        ("https://[2001:db8::1%25no-such-zone]/", "Remove the zone"),
        ("https://0177.0.0.1/", "not a valid URL"),
        ("https://" + "x" * MOST_CHARS, f"the limit is {MOST_CHARS}"),
    ],
)
def test_what_cannot_be_used_is_said(address, said):
    assert said in address_problem(address)


@pytest.mark.parametrize(
    "number",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),
        *("100.64.0.1", "169.254.169.254", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255"),
        *("192.0.2.1", "198.18.0.1", *(str(network[0]) for network in NEVER_PUBLIC)),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "fec0::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
        *("::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1", "::ffff:0:169.254.169.254"),
        *("64:ff9b:1::1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a00:1::1", "2001:0:7f00:1::80ff:fffe"),
        "2001:db8::1",
    ],
)
def test_inner_numbers_are_refused_in_every_writing(number):
    assert not may_reach(number, ())


def test_an_administrator_opens_what_they_name_and_nothing_else():
    assert may_reach("10.1.2.3", NAMED)
    assert may_reach("::ffff:10.1.2.3", NAMED)
    assert not may_reach("10.2.2.3", NAMED)
    assert not may_reach("127.0.0.1", NAMED)


def test_all_private_ones_leave_out_where_clouds_keep_credentials():
    assert all(may_reach(number, PRIVATE) for number in ("127.0.0.1", "::1", "10.0.0.1", "fd00::1"))
    refused = (
        "169.254.169.254",
        "fe80::1",
        "0.0.0.0",
        "224.0.0.1",
        *(str(network[0]) for network in NEVER_PUBLIC),
    )
    assert not any(may_reach(number, PRIVATE) for number in refused)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "localhost"]
)
def test_loopback_is_refused_however_it_is_written(host):
    said = destination_problem(f"http://{host}:8000/hook", ())
    assert "private or reserved network" in said
    assert "WIGGUM_WEBHOOK_PRIVATE" in said


def test_one_inner_number_among_public_ones_is_enough(monkeypatch):
    def found(host, port, **_):
        return [(2, 1, 6, "", (number, port)) for number in ("198.51.100.34", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    assert "mixed.example.org (10.0.0.1)" in destination_problem(
        "https://mixed.example.org/", [ipaddress.ip_network("198.51.100.0/24")]
    )


def test_a_name_that_is_not_found_is_left_to_the_workers(monkeypatch):
    def lost(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", lost)
    assert destination_problem("https://unknown.example.org/", ()) == ""
    assert destination_problem(f"https://{'x' * 70}.example.org/", ()) == ""
