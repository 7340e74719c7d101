"""Sign-in with OpenID Connect: who can sign in, and every invalid response that is refused."""

from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from django.core.cache import cache
from django.test import Client

from refinement.identity.settings import OpenIDSettings
from refinement.models import AuditEntry, ExternalIdentity, Membership, User
from refinement.services.people.invitations import invitation_make, invitation_revoke
from tests.loopback.openid_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    STRANGE_KEYS,
    WRONG_CLAIMS,
    openid_provider,
)
from tests.views.account.codes import totp
from tests.views.account.test_two_factor import set_up

pytestmark = pytest.mark.django_db
BEGIN, CALLBACK = "/account/provider/", "/account/provider/callback/"
BROWSER = httpx.Client(verify=False, trust_env=False)  # one for all: each would load all root certificates


@pytest.fixture(autouse=True)
def fresh_limits():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture(scope="module")
def running():
    with openid_provider() as provider:
        yield provider


@pytest.fixture
def provider(running, settings):
    running.start_over()
    settings.OPENID_CONNECT = OpenIDSettings(running.address, CLIENT_ID, CLIENT_SECRET, "Example")
    return running


@pytest.fixture
def ada(project):
    user = User.objects.create_user("Ada@Example.org", "five blue candles", name="Ada")
    Membership.objects.create(project=project, user=user, role="viewer")
    return user


def callback_url(client, begin=BEGIN):
    """Follows the redirects to the provider and back; returns the path of the callback."""
    there = client.get(begin)
    assert there.status_code == 302, there.content
    back = BROWSER.get(there.headers["Location"])
    assert back.status_code == 302
    parts = urlsplit(back.headers["Location"])
    assert parts.path == CALLBACK
    return f"{parts.path}?{parts.query}"


def sign_in(client, begin=BEGIN):
    return client.get(callback_url(client, begin))


def is_in(client):
    return client.get("/account/").status_code == 200


def test_a_person_with_that_mail_address_gets_in(anonymous, provider, ada):
    answer = sign_in(anonymous)

    assert answer.headers["Location"] == "/"
    assert anonymous.get("/account/").wsgi_request.user == ada
    identity = ExternalIdentity.objects.get()
    assert (identity.user, identity.issuer, identity.subject) == (ada, provider.address, "subject-1")


def test_one_comes_to_where_one_was_going_and_never_elsewhere(provider, ada):
    assert sign_in(Client(), f"{BEGIN}?next=/account/").headers["Location"] == "/account/"
    for elsewhere in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"):
        assert sign_in(Client(), f"{BEGIN}?next={elsewhere}").headers["Location"] == "/"


def test_what_is_sent_to_the_provider(anonymous, provider, ada):
    sign_in(anonymous)

    asked = provider.asked[0]
    assert asked["response_type"] == "code"
    assert asked["scope"] == "openid email profile"
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == f"http://testserver{CALLBACK}"
    assert min(len(asked["state"]), len(asked["nonce"]), len(asked["code_challenge"])) >= 43
    assert CLIENT_SECRET not in str(asked)


def test_the_mail_address_may_come_from_userinfo(anonymous, provider, ada):
    provider.mail_in_userinfo = True
    sign_in(anonymous)

    assert is_in(anonymous)


def test_connecting_removes_the_password_and_ends_sessions(anonymous, provider, ada):
    """The person who created the account with this address may not own the address."""
    earlier = Client()
    earlier.post("/account/login/", {"login": ada.email, "password": "five blue candles"})
    assert is_in(earlier)
    sign_in(anonymous)

    ada.refresh_from_db()
    assert not ada.has_usable_password()
    assert not is_in(earlier)
    entry = AuditEntry.objects.get(action="identity.connect")
    assert entry.after["password_removed"] is True
    assert "You can now sign in with Example." in anonymous.get("/account/").content.decode()


def test_the_providers_name_for_the_person_counts_from_then_on(provider, ada):
    sign_in(Client())
    provider.email, provider.email_verified = "ada@elsewhere.example", False
    client = Client()
    sign_in(client)

    assert client.get("/account/").wsgi_request.user == ada


def test_who_got_the_address_later_does_not_get_the_account(provider, ada):
    sign_in(Client())
    provider.subject = "subject-2"
    client = Client()
    answer = sign_in(client)

    assert answer.status_code == 403
    assert "belongs to another user of the provider" in answer.content.decode()
    assert not is_in(client)


@pytest.mark.parametrize("verified", [False, None, "false", 0, "yes"])
def test_an_address_that_nobody_confirmed_opens_nothing(anonymous, provider, ada, verified):
    provider.email_verified = verified
    answer = sign_in(anonymous)

    assert answer.status_code == 403
    assert "has not verified your email address" in answer.content.decode()
    assert not is_in(anonymous)
    assert not ExternalIdentity.objects.exists()


def test_a_stranger_stays_out(anonymous, provider, ada):
    provider.email = "stranger@example.org"
    answer = sign_in(anonymous)

    assert answer.status_code == 403
    assert "Ask your team for an invitation" in answer.content.decode()
    assert User.objects.count() == 1


def test_a_stranger_with_an_invitation_gets_an_account(anonymous, provider, project, owner):
    token = invitation_make(project=project, role="editor", days=1, by=owner)[1]
    page = anonymous.get(f"/join/{token}/").content.decode()
    assert "Join with Example" in page

    answer = sign_in(anonymous, f"{BEGIN}?invitation={token}&next=/join/{token}/")
    assert answer.headers["Location"] == "/"
    ada = User.objects.get(email="ada@example.org")
    assert (ada.name, ada.has_usable_password()) == ("Ada Lovelace", False)
    assert Membership.objects.get(user=ada).role == "editor"
    assert is_in(anonymous)


def test_a_spent_invitation_lets_nobody_in(anonymous, provider, project, owner):
    invitation, token = invitation_make(project=project, role="editor", days=1, by=owner)
    invitation_revoke(project=project, number=invitation.pk, by=owner)

    assert sign_in(anonymous, f"{BEGIN}?invitation={token}").status_code == 403
    assert not User.objects.filter(email="ada@example.org").exists()


def test_an_account_with_an_invitation_comes_back_to_it(anonymous, provider, ada, other_project, outsider):
    token = invitation_make(project=other_project, role="viewer", days=1, by=outsider)[1]
    answer = sign_in(anonymous, f"{BEGIN}?invitation={token}&next=/join/{token}/")

    assert answer.headers["Location"] == f"/join/{token}/"
    assert not Membership.objects.filter(user=ada, project=other_project).exists()


@pytest.mark.parametrize(
    "email", ["", "ada", "a\x00da@example.org", f"{'x' * 300}@example.org", "a b@example.org"]
)
def test_what_is_no_address_opens_nothing(anonymous, provider, project, owner, email):
    provider.email = email
    token = invitation_make(project=project, role="editor", days=1, by=owner)[1]

    assert sign_in(anonymous, f"{BEGIN}?invitation={token}").status_code == 403
    assert User.objects.count() == 1


@pytest.mark.parametrize("subject", ["", "x" * 256, "a\x00b"])
def test_a_strange_name_for_a_person_opens_nothing(anonymous, provider, ada, subject):
    provider.subject = subject

    assert sign_in(anonymous).status_code == 403


def test_begun_too_often_it_waits(anonymous, provider):
    for _ in range(30):
        anonymous.get(BEGIN)
    asked = anonymous.get(BEGIN)

    assert asked.status_code == 429
    assert Client(REMOTE_ADDR="192.0.2.9").get(BEGIN).status_code == 302


def test_a_closed_account_stays_closed(anonymous, provider, ada):
    User.objects.update(is_active=False)

    assert sign_in(anonymous).headers["Location"] == "/account/inactive/"
    assert not is_in(anonymous)


@pytest.mark.django_db(transaction=True)
def test_a_second_factor_is_asked_for(provider, ada):
    client = Client()
    client.post("/account/login/", {"login": ada.email, "password": "five blue candles"})
    client.post("/account/confirm/", {"password": "five blue candles"})
    secret, _ = set_up(client)
    other = Client()
    assert sign_in(other).headers["Location"] == "/account/security/code/"
    assert not is_in(other)

    other.post("/account/security/code/", {"code": totp(secret)})
    assert is_in(other)


UNPROVEN = (
    "issuer of discovery", "no iss", "no aud", "no sub", "no iat", "no exp", "no nonce", "expired", "not yet",
    "signature", "unsigned", "signed with our secret", "signed with the public key", "unknown key", "garbage",
    *WRONG_CLAIMS, *STRANGE_KEYS,
)  # fmt: skip


@pytest.mark.parametrize("fault", UNPROVEN)
def test_what_proves_nothing_signs_nobody_in(anonymous, provider, ada, fault):
    back = callback_url(anonymous)
    provider.fault = fault
    answer = anonymous.get(back)

    assert answer.status_code == 403
    assert "could not be verified" in answer.content.decode()
    assert not is_in(anonymous)


def test_a_provider_with_one_key_need_not_name_it(anonymous, provider, ada):
    provider.fault = "key without a name"
    sign_in(anonymous)

    assert is_in(anonymous)


def test_userinfo_about_somebody_else_signs_nobody_in(anonymous, provider, ada):
    provider.mail_in_userinfo, provider.fault = True, "userinfo of another"
    answer = sign_in(anonymous)

    assert answer.status_code == 403
    assert not is_in(anonymous)


@pytest.mark.parametrize("fault", ["state", "denied"])
def test_what_does_not_belong_to_this_browser_is_refused(anonymous, provider, ada, fault):
    provider.fault = fault
    answer = sign_in(anonymous)

    assert answer.status_code == 403
    assert ("another window" if fault == "state" else "did not finish") in answer.content.decode()
    assert not is_in(anonymous)


def test_another_browser_cannot_finish_it(anonymous, provider, ada):
    back = callback_url(anonymous)

    assert Client().get(back).status_code == 403
    assert anonymous.get(back).status_code == 302


def test_an_address_works_once(anonymous, provider, ada):
    back = callback_url(anonymous)
    anonymous.get(back)
    anonymous.post("/account/logout/")

    assert anonymous.get(back).status_code == 403
    assert not is_in(anonymous)


def test_an_old_attempt_is_too_old(anonymous, provider, ada, monkeypatch):
    back = callback_url(anonymous)
    monkeypatch.setattr("refinement.views.account.openid.PENDING_SECONDS", 0)

    assert "attempt expired" in anonymous.get(back).content.decode()


def test_another_issuer_in_the_answer_is_refused(anonymous, provider, ada):
    back = callback_url(anonymous)

    assert anonymous.get(f"{back}&iss=https://evil.example").status_code == 403


@pytest.mark.parametrize(
    "rest", ["", "?state=", "?state=x&code=y", "?code=y", "?state=%00&code=%00", "?error=x"]
)
def test_an_address_out_of_nowhere_is_refused(anonymous, provider, rest):
    answer = anonymous.get(CALLBACK + rest)

    assert answer.status_code == 403
    assert "Start again" in answer.content.decode()


def test_a_provider_that_is_down_is_said_in_words(anonymous, provider, ada):
    back = callback_url(anonymous)
    faults = {"down": BEGIN, "down at /keys": back, "token refused": "", "words instead of an answer": ""}
    for fault, address in faults.items():
        provider.fault = ""
        where = address or callback_url(anonymous)
        provider.fault = fault
        answer = anonymous.get(where)
        assert answer.status_code == 502, fault
        assert "cannot be reached" in answer.content.decode()
    assert not is_in(anonymous)


def test_a_provider_that_is_not_there_is_said_in_words(anonymous, settings):
    settings.OPENID_CONNECT = OpenIDSettings("http://127.0.0.1:9", "x", "a secret", "Example")
    answer = anonymous.get(BEGIN)

    assert answer.status_code == 502
    assert "a secret" not in answer.content.decode()


def test_the_sign_in_page_offers_it_where_there_is_one(anonymous, provider):
    page = anonymous.get("/account/login/?next=/account/").content.decode()
    assert "Sign in with Example" in page
    query = parse_qs(page.split(f'href="{BEGIN}?', 1)[1].split('"', 1)[0])
    assert query == {"next": ["/account/"]}


def test_without_a_provider_there_is_nothing(anonymous):
    assert "Sign in with Example" not in anonymous.get("/account/login/").content.decode()
    assert anonymous.get(BEGIN).status_code == 404
    assert anonymous.get(CALLBACK).status_code == 404


def test_it_can_be_disconnected_by_who_has_a_password(anonymous, provider, ada):
    sign_in(anonymous)
    answer = anonymous.post("/account/provider/disconnect/", follow=True)
    assert "Set a password first" in answer.content.decode()
    assert ExternalIdentity.objects.exists()

    anonymous.post("/account/password/set/", {"password1": "six red kettles", "password2": "six red kettles"})
    anonymous.post("/account/confirm/", {"password": "six red kettles"})
    answer = anonymous.post("/account/provider/disconnect/", follow=True)
    assert "no longer linked" in answer.content.decode()
    assert not ExternalIdentity.objects.exists()
    assert AuditEntry.objects.filter(action="identity.disconnect").exists()
