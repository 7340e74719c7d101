"""Authenticator app and recovery codes: set up, used, used up, turned off."""

import re

import pytest
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.test import Client, override_settings
from django.utils.http import urlencode

from refinement.models import AuditEntry
from tests.append_only import audit_emptied
from tests.conftest import PASSWORD
from tests.views.account.codes import totp

pytestmark = pytest.mark.django_db(transaction=True)
SECURITY = "/account/security/"


@pytest.fixture(autouse=True)
def fresh_limits():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def confirmed(as_owner, password):
    """The owner's browser, after giving the password once more."""
    as_owner.post("/account/confirm/", {"password": password})
    return as_owner


def secret_on(page):
    return re.search(r'security-key"[^>]*>([A-Z2-7=]+)<', page).group(1)


def set_up(client):
    """Turns the app on; gives its key and the recovery codes."""
    secret = secret_on(client.get(f"{SECURITY}app/add/").content.decode())
    answer = client.post(f"{SECURITY}app/add/", {"code": totp(secret)})
    assert answer.headers["Location"] == f"{SECURITY}recovery-codes/"
    page = client.get(answer.headers["Location"]).content.decode()
    codes = re.search(r"<textarea[^>]*>([\d\s]+)</textarea>", page).group(1).split()
    cache.clear()  # the code just given works once; tests go faster than its thirty seconds
    return secret, codes


def first_step(email):
    client = Client()
    answer = client.post("/account/login/", {"login": email, "password": PASSWORD})
    assert answer.headers["Location"] == f"{SECURITY}code/"
    return client


def is_in(client):
    return client.get("/account/").status_code == 200


def test_changing_it_needs_the_password_once_more(as_owner):
    for address in ("app/add/", "recovery-codes/new/", "passkeys/add/"):
        where = as_owner.get(SECURITY + address).headers["Location"]
        assert where == f"/account/confirm/?{urlencode({'next': SECURITY + address})}"


def test_the_page_shows_a_picture_and_the_key(confirmed, owner):
    page = confirmed.get(f"{SECURITY}app/add/").content.decode()

    assert 'src="data:image/svg+xml;base64,' in page
    assert len(secret_on(page)) == 32


def test_a_wrong_code_turns_nothing_on(confirmed):
    confirmed.get(f"{SECURITY}app/add/")
    answer = confirmed.post(f"{SECURITY}app/add/", {"code": "000000"})

    assert "The code is incorrect" in answer.content.decode()
    assert not Authenticator.objects.exists()


def test_the_key_is_not_kept_in_the_clear(confirmed):
    secret, codes = set_up(confirmed)
    kept = str(list(Authenticator.objects.values_list("data", flat=True)))

    assert secret not in kept
    assert [code for code in codes if code in kept] == []


def test_signing_in_asks_for_a_code(confirmed, owner):
    secret, _ = set_up(confirmed)
    client = first_step(owner.email)
    assert not is_in(client)

    assert "The code is incorrect" in client.post(f"{SECURITY}code/", {"code": "123456"}).content.decode()
    assert not is_in(client)
    assert client.post(f"{SECURITY}code/", {"code": totp(secret)}).status_code == 302
    assert is_in(client)


def test_one_comes_to_where_one_was_going(confirmed, owner):
    secret, _ = set_up(confirmed)
    client = Client()
    client.post("/account/login/", {"login": owner.email, "password": PASSWORD, "next": "/account/"})

    assert client.post(f"{SECURITY}code/", {"code": totp(secret)}).headers["Location"] == "/account/"


def test_the_same_code_works_once(confirmed, owner):
    secret, _ = set_up(confirmed)
    code = totp(secret)
    assert first_step(owner.email).post(f"{SECURITY}code/", {"code": code}).status_code == 302

    assert (
        "The code is incorrect"
        in first_step(owner.email).post(f"{SECURITY}code/", {"code": code}).content.decode()
    )


def test_guessing_codes_is_slowed_down(confirmed, owner):
    secret, _ = set_up(confirmed)
    client = first_step(owner.email)
    for _ in range(5):
        client.post(f"{SECURITY}code/", {"code": "111111"})

    answer = client.post(f"{SECURITY}code/", {"code": totp(secret)})
    assert "Too many failed attempts" in answer.content.decode()
    assert not is_in(client)


def test_a_recovery_code_lets_one_in_once(confirmed, owner):
    _, codes = set_up(confirmed)
    assert len(set(codes)) == 10
    client = first_step(owner.email)
    assert client.post(f"{SECURITY}code/", {"code": codes[3]}).status_code == 302
    assert is_in(client)

    again = first_step(owner.email)
    assert "The code is incorrect" in again.post(f"{SECURITY}code/", {"code": codes[3]}).content.decode()
    assert "9 left" in client.get(SECURITY).content.decode()


def test_recovery_codes_are_shown_once(confirmed):
    _, codes = set_up(confirmed)
    page = confirmed.get(f"{SECURITY}recovery-codes/").content.decode()

    assert [code for code in codes if code in page] == []
    assert "cannot be shown again" in page


def test_new_codes_end_the_old_ones(confirmed, owner):
    _, codes = set_up(confirmed)
    confirmed.post(f"{SECURITY}recovery-codes/new/")

    answer = first_step(owner.email).post(f"{SECURITY}code/", {"code": codes[0]})
    assert "The code is incorrect" in answer.content.decode()


def test_turned_off_the_password_is_enough(confirmed, owner):
    set_up(confirmed)
    confirmed.post(f"{SECURITY}app/remove/")

    assert not Authenticator.objects.exists()
    client = Client()
    client.post("/account/login/", {"login": owner.email, "password": PASSWORD})
    assert is_in(client)


def test_all_of_it_is_in_the_audit_log(confirmed, owner):
    audit_emptied()
    secret, _ = set_up(confirmed)
    client = first_step(owner.email)
    client.post(f"{SECURITY}code/", {"code": "123456"})
    client.post(f"{SECURITY}code/", {"code": totp(secret)})
    confirmed.post(f"{SECURITY}recovery-codes/new/")
    confirmed.post(f"{SECURITY}app/remove/")

    actions = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))
    assert actions == [
        "two_factor.add", "two_factor.add", "two_factor.refuse", "session.start", "two_factor.renew",
        "two_factor.remove", "two_factor.remove",
    ]  # fmt: skip
    said = str(list(AuditEntry.objects.values_list("before", "after")))
    assert secret not in said
    assert AuditEntry.objects.get(action="session.start").after["by"] == "password, two-factor"


def test_another_secret_key_fits_no_code(confirmed, owner):
    secret, codes = set_up(confirmed)
    client = first_step(owner.email)
    with override_settings(SECRET_KEY="another secret key of this instance, long enough"):
        other = Client()
        other.post("/account/login/", {"login": owner.email, "password": PASSWORD})
        for code in (totp(secret), codes[0], totp("")):
            assert "The code is incorrect" in other.post(f"{SECURITY}code/", {"code": code}).content.decode()
    assert client.post(f"{SECURITY}code/", {"code": totp(secret)}).status_code == 302


def test_somebody_elses_passkey_is_not_found(confirmed, editor):
    theirs = Authenticator.objects.create(
        user=editor, type="webauthn", data={"name": "Theirs", "credential": {}}
    )
    for rest in ("name/", "remove/"):
        assert confirmed.get(f"{SECURITY}passkeys/{theirs.pk}/{rest}").status_code == 404
        assert confirmed.post(f"{SECURITY}passkeys/{theirs.pk}/{rest}", {"name": "x"}).status_code == 404


BROKEN = [
    "",
    "x",
    "{}",
    "[]",
    "1",
    '{"id": 1}',
    '{"response": {"userHandle": "??"}}',
    '{"id": "AA", "rawId": "AA"}',
]


@pytest.mark.parametrize("credential", BROKEN)
def test_a_broken_passkey_is_not_added(confirmed, credential):
    confirmed.get(f"{SECURITY}passkeys/add/")
    answer = confirmed.post(f"{SECURITY}passkeys/add/", {"credential": credential, "name": "Mine"})

    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize("credential", BROKEN)
def test_a_broken_passkey_signs_nobody_in(anonymous, owner, credential):
    answer = anonymous.post(f"{SECURITY}passkeys/sign-in/", {"credential": credential}, follow=True)

    assert answer.status_code == 200
    assert not is_in(anonymous)
