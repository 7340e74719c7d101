"""Headers of every page, and that no page is public by accident."""

import pytest

pytestmark = pytest.mark.django_db


def test_pages_are_guarded(as_owner, project):
    headers = as_owner.get(f"/p/{project.slug}/").headers

    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    assert "HX-Request" in headers["Vary"]
    assert "private" in headers["Cache-Control"]


def test_session_cookies_are_out_of_reach_of_scripts(anonymous, owner, password):
    anonymous.post("/account/login/", {"login": owner.email, "password": password})

    cookie = anonymous.cookies["sessionid"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_htmx_is_configured_strictly(as_owner, project):
    page = as_owner.get(f"/p/{project.slug}/").content.decode()

    for part in ('"allowEval":false', '"includeIndicatorStyles":false', '"selfRequestsOnly":true',
                 '{"code":"409|422","swap":true}', "X-CSRFToken"):  # fmt: skip
        assert part in page
