"""Administrators see who has two-factor, and can reset the sign-in of people who lost their device."""

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command
from django.test import Client

from refinement.models import AuditEntry, ExternalIdentity

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_administrator(django_user_model):
    client = Client()
    administrator = django_user_model.objects.create_superuser(
        "ada@example.org", "four old clocks", name="Ada Admin"
    )
    client.force_login(administrator)
    return client


@pytest.fixture
def protected(editor):
    """The editor, with an app, codes, a passkey and a provider."""
    data = {"totp": {"secret": "x"}, "recovery_codes": {"seed": "y"}, "webauthn": {"name": "Lost phone"}}
    for kind, kept in data.items():
        Authenticator.objects.create(user=editor, type=kind, data=kept)
    ExternalIdentity.objects.create(user=editor, issuer="https://id.example.org", subject="1")
    return editor


def reset(client, person):
    return client.post(f"/administration/people/{person.pk}/sign-in/", follow=True)


def test_the_list_shows_who_has_it(as_administrator, protected, viewer, django_assert_max_num_queries):
    with django_assert_max_num_queries(8):
        page = as_administrator.get("/administration/").content.decode()

    assert page.count(">Two-factor</span>") == 1
    assert page.count("Reset sign-in</span>") == 1


def test_resetting_asks_for_the_password_first_and_then_goes_on(as_administrator, protected):
    answer = reset(as_administrator, protected)
    assert answer.redirect_chain[0][0].startswith("/account/confirm/")
    assert Authenticator.objects.count() == 3

    address = answer.redirect_chain[0][0]
    answer = as_administrator.post(address, {"password": "four old clocks"}, follow=True)
    assert "were removed" in answer.content.decode()
    assert not Authenticator.objects.exists()


def test_all_of_it_goes_and_the_person_is_signed_out(as_administrator, as_editor, protected):
    as_administrator.post("/account/confirm/", {"password": "four old clocks"})
    as_editor.get("/account/")
    answer = reset(as_administrator, protected)

    assert "were removed" in answer.content.decode()
    assert not Authenticator.objects.exists()
    assert not ExternalIdentity.objects.exists()
    assert as_editor.get("/account/").status_code == 302
    entry = AuditEntry.objects.get(action="person.reset")
    assert (entry.user.email, entry.project) == ("ada@example.org", None)
    assert entry.before["means"] == ["authenticator app", "recovery codes", "passkey (Lost phone)"]


def test_where_there_is_nothing_nothing_is_recorded(as_administrator, viewer):
    as_administrator.post("/account/confirm/", {"password": "four old clocks"})

    assert "nothing to reset" in reset(as_administrator, viewer).content.decode()
    assert not AuditEntry.objects.filter(action="person.reset").exists()


def test_nobody_else_may(as_owner, protected, password):
    as_owner.post("/account/confirm/", {"password": password})

    assert reset(as_owner, protected).status_code == 403
    assert Authenticator.objects.count() == 3


def test_a_person_who_is_not_there_is_not_found(as_administrator):
    as_administrator.post("/account/confirm/", {"password": "four old clocks"})

    assert as_administrator.post("/administration/people/999/sign-in/").status_code == 404


def test_the_command_line_does_it_too(protected, capsys):
    call_command("reset_sign_in", "Edgar@Example.org")
    assert "can now sign in with the password alone" in capsys.readouterr().out
    assert not Authenticator.objects.exists()
    entry = AuditEntry.objects.get(action="person.reset")
    assert entry.user is None

    call_command("reset_sign_in", protected.email)
    assert "has no second factor" in capsys.readouterr().out
    with pytest.raises(CommandError, match="There is no account with the email address"):
        call_command("reset_sign_in", "nobody@example.org")
