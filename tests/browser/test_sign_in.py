"""Passkeys, two-factor and OpenID Connect in a browser, under the Content Security Policy."""

import re

import pytest
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from playwright.sync_api import Page, expect

from refinement.identity.settings import OpenIDSettings
from refinement.models import AuditEntry, User
from tests.browser.test_accessibility import inspect
from tests.loopback.openid_provider import CLIENT_ID, CLIENT_SECRET, openid_provider
from tests.views.account.codes import totp

__all__ = ["inspect"]

SECURITY = "/account/security/"


@pytest.fixture(autouse=True)
def fresh_limits():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def authenticator(page):
    """A device that keeps passkeys and always knows its owner's finger."""
    client = page.context.new_cdp_session(page)
    client.send("WebAuthn.enable")
    made = client.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    return client, made["authenticatorId"]


def confirm(page: Page, password: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm it’s you")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Confirm").click()


def add_passkey(page: Page, password: str, name: str) -> None:
    page.goto(SECURITY)
    page.get_by_role("link", name="Add passkey").click()
    if "confirm" in page.url:
        confirm(page, password)
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add passkey").click()
    expect(page.locator("h1")).to_have_text("Recovery codes")


def sign_out(page: Page) -> None:
    page.locator("summary", has_text="Your account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_passkey_is_added_used_renamed_and_removed(signed_in, authenticator, owner, password):
    page = signed_in
    add_passkey(page, password, "Olivia’s <b>laptop</b>")
    page.get_by_role("link", name="I saved them").click()
    expect(page.locator(".security-list")).to_contain_text("Olivia’s <b>laptop</b>")

    sign_out(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.locator("summary", has_text="Your account")).to_be_attached()
    page.goto(SECURITY)
    expect(page.locator(".security-list")).to_contain_text("used")

    page.get_by_role("link", name=re.compile("^Rename")).click()
    # A person who signed in with a passkey confirms with the passkey.
    confirm(page, password)
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".security-list")).to_contain_text("Laptop")

    page.get_by_role("link", name=re.compile("^Remove")).click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("status").first).to_contain_text("Passkey removed.")
    assert not Authenticator.objects.exists()
    actions = set(AuditEntry.objects.filter(user=owner).values_list("action", flat=True))
    assert {"two_factor.add", "session.start", "two_factor.rename", "two_factor.remove"} <= actions


def test_a_passkey_is_a_second_step_and_confirms(signed_in, authenticator, owner, password):
    page = signed_in
    add_passkey(page, password, "Key")
    sign_out_by_address(page)
    page.get_by_label("Email").fill(owner.email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two-factor sign-in")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.locator("summary", has_text="Your account")).to_be_attached()

    page.goto(f"{SECURITY}passkeys/confirm/?next={SECURITY}app/add/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Set up authenticator app")


def sign_out_by_address(page: Page) -> None:
    page.goto("/account/logout/")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_cancelled_passkey_is_said_in_words(page, owner):
    page.goto("/account/login/")
    # Without any device the browser would wait for one: as if the person pressed cancel.
    cancelled = "Promise.reject(new DOMException('no', 'NotAllowedError'))"
    page.evaluate(f"() => {{ navigator.credentials.get = () => {cancelled} }}")
    page.get_by_role("button", name="Use a passkey").click()

    expect(page.get_by_role("alert")).to_contain_text("Cancelled or timed out")


def test_an_app_is_set_up_and_asked_for(signed_in, owner, password):
    page = signed_in
    page.goto(SECURITY)
    page.get_by_role("link", name="Set up app").click()
    confirm(page, password)
    picture = page.locator("img.security-qr")
    assert picture.evaluate("image => image.complete && image.naturalWidth > 0")
    page.locator("summary", has_text="Enter the key instead").click()
    secret = page.locator(".security-key").inner_text()
    page.get_by_label("Code").fill(totp(secret))
    page.get_by_role("button", name="Enable").click()

    codes = page.get_by_label("Recovery codes").input_value().split()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    kept = download.value.path().read_text()
    assert [code for code in codes if code not in kept] == []

    sign_out(page)
    page.get_by_label("Email").fill(owner.email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.locator("summary", has_text="Your account")).to_be_attached()


def test_a_provider_signs_one_in(page, project, settings):
    with openid_provider() as provider:
        settings.OPENID_CONNECT = OpenIDSettings(provider.address, CLIENT_ID, CLIENT_SECRET, "Example")
        User.objects.create_user("ada@example.org", "x", name="Ada Lovelace")
        page.goto("/account/login/")
        page.get_by_role("link", name="Sign in with Example").click()
        expect(page.locator("summary", has_text="Your account")).to_be_attached()

        page.goto(SECURITY)
        expect(page.get_by_role("heading", name="Example")).to_be_visible()
        expect(page.get_by_text("Connected", exact=True).first).to_be_visible()


def test_the_pages_are_accessible(inspect, as_owner, owner, password, settings):
    settings.OPENID_CONNECT = OpenIDSettings("http://127.0.0.1:9", "x", "y", "Example")
    as_owner.post("/account/confirm/", {"password": password})
    session = as_owner.cookies["sessionid"].value
    listed = Authenticator.objects.create(user=owner, type="webauthn", data={"name": "Laptop"})
    assert inspect(SECURITY, session) == []
    listed.delete()
    for path in ("", "app/add/", "passkeys/add/", "recovery-codes/new/"):
        assert inspect(SECURITY + path, session) == [], path
    assert inspect("/account/login/") == []
    assert inspect("/account/provider/") == []


@pytest.mark.parametrize("path", ["", "app/add/", "passkeys/add/", "recovery-codes/new/"])
def test_nothing_is_wider_than_a_phone(signed_in, as_owner, owner, password, path):
    as_owner.post("/account/confirm/", {"password": password})
    signed_in.set_viewport_size({"width": 360, "height": 740})
    signed_in.goto(SECURITY + path)

    assert signed_in.evaluate("document.documentElement.scrollWidth") <= 360
