"""One-time links and tokens are not logged."""

import logging
import re
import sys

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from wiggum_site.log_lines import REDACTED, LineFormatter, redacted

SECRET = "q7Zk-3vXw_LpT9aBcD5eFgH1iJ2kM4nO6pQ8rS0tUv"


def routes(patterns, before=""):
    """Every route as it is written, with the names of its parts."""
    for pattern in patterns:
        here = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, here)
        else:
            assert isinstance(pattern, URLPattern)
            yield here


def test_every_route_with_a_secret_is_covered():
    found = [
        route
        for route in routes(get_resolver().url_patterns)
        if re.search(r"<(str:)?(token|key)>", route) and "suites/" not in route  # a task's key is no secret
    ]
    assert len(found) >= 5
    for route in found:
        address = "/" + re.sub(r"\(\?P<uidb36>[^)]*\)", "4f", route).replace("^", "").replace("$", "")
        address = re.sub(r"\(\?P<key>[^)]*\)|<(str:)?(token|key)>", SECRET, address)
        address = address.replace("<int:number>", "1")
        assert SECRET in address
        assert SECRET not in redacted(f"Not Found: {address}"), route


@pytest.mark.parametrize(
    "text",
    [
        f"GET https://wiggum.example.org/join/{SECRET}?next=/",
        f"Not Found: /S/{SECRET}",
        f"Forbidden (Referer checking failed - https://wiggum.example.org/welcome/{SECRET}/ is bad.): /",
        f"/account/provider/callback/?code={SECRET}&state={SECRET}",
        f"Authorization: Bearer wgm_{SECRET}",
    ],
)
def test_other_places_of_a_secret(text):
    assert SECRET not in redacted(text)
    assert REDACTED in redacted(text)


@pytest.mark.parametrize(
    "text", ["Not Found: /p/alpha/runs/7/", "/account/password/reset/done/", "run=7 role=judge seconds=1.2"]
)
def test_other_addresses_stay_readable(text):
    assert redacted(text) == text


def test_a_traceback_has_none():
    try:
        raise ValueError(f"bad address /join/{SECRET}/")
    except ValueError:
        record = logging.LogRecord("a", logging.ERROR, "f", 1, "Failed: /s/%s/", (SECRET,), sys.exc_info())
    written = LineFormatter("%(message)s").format(record)
    assert "Traceback" in written
    assert SECRET not in written


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post", "delete"])
@pytest.mark.parametrize("address", ["/s/{}/", "/join/{}/", "/welcome/{}/", "/account/password/reset/4f-{}/"])
def test_nothing_that_a_request_logs_has_one(caplog, method, address):
    getattr(Client(enforce_csrf_checks=True), method)(address.format(SECRET))
    for record in caplog.records:
        assert SECRET not in LineFormatter("%(message)s").format(record)
