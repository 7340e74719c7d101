"""Sign-ins, refused attempts, passwords and sessions are in the audit log, without secrets."""

import pytest
from django.core.cache import cache
from django.test import Client

from refinement.models import AuditEntry
from tests.append_only import audit_emptied

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh(db):
    cache.clear()
    audit_emptied()
    yield
    cache.clear()


def sign_in(email, password, **extra):
    client = Client(**extra)
    client.post("/account/login/", {"login": email, "password": password})
    return client


def entry(action):
    return AuditEntry.objects.get(action=action)


def test_a_sign_in_and_a_sign_out(owner, password):
    client = sign_in(owner.email, password, REMOTE_ADDR="192.0.2.7")
    client.post("/account/logout/")

    start, end = entry("session.start"), entry("session.end")
    assert (start.user, start.project, start.address) == (owner, None, "192.0.2.7")
    assert start.after == {"person": owner.email, "by": "password"}
    assert end.user == owner


@pytest.mark.parametrize("email", ["olivia@example.org", "nobody@example.org", "x" * 300 + "@example.org"])
def test_a_refused_sign_in_says_which_address_was_tried(owner, email):
    sign_in(email, "a wrong guess")

    refused = entry("session.refuse")
    assert (refused.user, refused.after) == (None, {"person": email[:254]})
    assert "a wrong guess" not in str(AuditEntry.objects.values_list("before", "after"))


def test_guessing_does_not_fill_the_log(owner):
    for _ in range(30):
        sign_in(owner.email, "a wrong guess")

    assert AuditEntry.objects.filter(action="session.refuse").count() <= 10


def test_a_changed_password(as_owner, owner, password):
    new = {"oldpassword": password, "password1": "seven tin whistles", "password2": "seven tin whistles"}
    as_owner.post("/account/password/", new)

    changed = entry("person.password")
    assert (changed.user, changed.after) == (owner, {"person": owner.email})
    assert "whistles" not in str(AuditEntry.objects.values_list("before", "after"))


def test_signing_other_browsers_out(owner, password):
    here, there = sign_in(owner.email, password), sign_in(owner.email, password)
    here.post("/account/sessions/end-others/")

    assert there.get("/account/").status_code == 302
    assert entry("session.end_others").after == {"person": owner.email, "browsers": 1}
    here.post("/account/sessions/end-others/")
    assert AuditEntry.objects.filter(action="session.end_others").count() == 1


def test_administrators_read_it_in_words(owner, password, django_user_model):
    sign_in(owner.email, password)
    sign_in("nobody@example.org", "a wrong guess")
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("ada@example.org", "x", name="Ada"))
    page = client.get("/administration/audit/").content.decode()

    assert "signed in" in page
    assert "failed to sign in as <bdi>nobody@example.org</bdi>: wrong password" in page
    assert "nobody@example.org" in page
