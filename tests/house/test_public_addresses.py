"""Tests, benchmarks and documents name no machine that exists: only reserved names and numbers."""

import re
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from tests.house.processes import ROOT

FOLDERS = ("tests", "benchmarks", "docs")
TEXTS = {".py", ".md", ".html", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".txt", ".js", ".css", ".csv"}
# A version such as Chrome/126.0.0.0 is no address; one in a URL comes after two slashes. Nor is a network.
IPV4 = re.compile(r"(?<![\w.])(?<!\w/)\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)")
IPV6 = re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?:(?:\.\d{1,3}){3})?(?![\w:]|/\d)")
NAME = re.compile(
    r"(?<![\w.-])((?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|co|cloud|eu|de))(?![\w(-]|\.\w)", re.I
)
RESERVED = re.compile(r"(?:^|\.)(?:example\.(?:com|net|org)|example|test|invalid|localhost)$", re.I)
# Names of things, not of machines that anything connects to.
IDENTIFIERS = {"www.w3.org", "json-schema.org", "hf.co"}
# All IPv6 addresses that are given to anybody; those that hold an IPv4 address are judged by that.
ASSIGNED = ip_network("2000::/3")
SPECIAL = [ip_network(text) for text in ("192.88.99.0/24", "2002::/16", "2001::/32")]


def public_addresses(text: str) -> Iterator[str]:
    """What in a text is the number or name of a machine that may exist."""
    for found in (*IPV4.finditer(text), *IPV6.finditer(text)):
        try:
            number = ip_address(found[0])
        except ValueError:
            continue
        special = number.is_multicast or any(number in network for network in SPECIAL)
        if number.is_global and not special and (number.version == 4 or number in ASSIGNED):
            yield found[0]
    for found in NAME.finditer(text):
        if not RESERVED.search(found[1]) and found[1].lower() not in IDENTIFIERS:
            yield found[1]


def documents() -> list[Path]:
    listed = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS]
    return [*listed, *ROOT.glob("*.md")]


def test_no_public_address_is_named():
    named = {
        f"{path.relative_to(ROOT)}: {address}"
        for path in documents()
        for address in public_addresses(path.read_text(errors="replace"))
    }
    assert not named


# Put together here, so that this file names none either.
NUMBER = str(ip_network("203.0.113.0/24").broadcast_address + 1)
LONG_NUMBER = str(ip_network("2001:db8::/32").broadcast_address + 1)
SOMEBODY = f"api.{'x' * 60}"


@pytest.mark.parametrize(
    "text",
    [
        *(f"https://{NUMBER}/hook", f'"{NUMBER}"', f"{NUMBER}, 203.0.113.9", f"at {NUMBER}."),
        *(f"[{LONG_NUMBER}]", f"::ffff:{NUMBER}", f"https://{SOMEBODY}.com/v1", f"me@{SOMEBODY}.org"),
    ],
)
def test_public_addresses_are_found(text):
    assert len(list(public_addresses(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        *("http://127.0.0.1:8000/", "10.0.0.1", "192.0.2.7", "[2001:db8::1]", "::1", "fe80::1", "12:30:45"),
        *(
            "Chrome/126.0.0.0 Safari",
            "version 1.2.3",
            "https://wiggum.example.org/",
            "evil.example",
            "x.invalid",
        ),
        *("str.format", "64:ff9b::7f00:1", "169.254.169.254", "localhost"),
    ],
)
def test_reserved_ones_are_not(text):
    assert list(public_addresses(text)) == []
