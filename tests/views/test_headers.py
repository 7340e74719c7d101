"""What every page carries, and that nothing is open by accident."""

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

pytestmark = pytest.mark.django_db
PUBLIC = {
    "healthz", "readyz", "metrics",  # metrics has a token of its own
    "theme", "welcome", "join", "account_login", "account_logout", "account_inactive",
    "account_signup", "account_reset_password", "account_reset_password_done",
    "account_reset_password_from_key", "account_reset_password_from_key_done",
}  # fmt: skip


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


def named_views(patterns):
    for entry in patterns:
        if isinstance(entry, URLResolver):
            yield from named_views(entry.url_patterns)
        elif isinstance(entry, URLPattern):
            yield entry.name, entry.callback


def test_only_these_views_are_open_to_anyone():
    open_views = {
        name
        for name, view in named_views(get_resolver().url_patterns)
        if not getattr(view, "login_required", True)
    }

    assert open_views <= PUBLIC


def test_htmx_is_configured_strictly(as_owner, project):
    page = as_owner.get(f"/p/{project.slug}/").content.decode()

    for part in ('"allowEval":false', '"includeIndicatorStyles":false', '"selfRequestsOnly":true',
                 '{"code":"422","swap":true}', "X-CSRFToken"):  # fmt: skip
        assert part in page
