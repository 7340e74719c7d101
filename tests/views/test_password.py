"""Changing and resetting a password."""

import re

import pytest
from django.core import mail
from django.core.cache import cache

pytestmark = pytest.mark.django_db
OLD = "three green lanterns"
NEW = "four calm harbours"


@pytest.fixture(autouse=True)
def fresh_limits():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def person(owner):
    owner.set_password(OLD)
    owner.save(update_fields=["password"])
    return owner


@pytest.fixture
def signed_in(client, person):
    client.force_login(person)
    return client


@pytest.fixture
def with_mail(settings):
    settings.MAIL_CONFIGURED = True


def change(client, old=OLD, new=NEW, again=NEW):
    return client.post(
        "/account/password/", {"oldpassword": old, "password1": new, "password2": again}, follow=True
    )


def test_a_password_is_changed_and_one_stays_signed_in(signed_in, person):
    answer = change(signed_in)

    person.refresh_from_db()
    assert person.check_password(NEW)
    assert answer.redirect_chain == [("/account/", 302)]
    assert "Password changed." in answer.content.decode()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"old": "wrong"}, "oldpassword"),
        ({"new": "short", "again": "short"}, "password1"),
        ({"again": "something else entirely"}, "password2"),
    ],
)
def test_what_is_wrong_is_said_beside_the_field(signed_in, person, values, field):
    answer = change(signed_in, **values)

    person.refresh_from_db()
    assert person.check_password(OLD)
    assert f'id="id_{field}_error"' in answer.content.decode()


def test_changing_needs_a_login(anonymous):
    assert anonymous.get("/account/password/").headers["Location"].startswith("/account/login/")


def test_an_account_without_a_password_can_set_one(signed_in, person):
    person.set_unusable_password()
    person.save(update_fields=["password"])
    signed_in.force_login(person)

    assert signed_in.get("/account/password/").headers["Location"] == "/account/password/set/"
    signed_in.post("/account/password/set/", {"password1": NEW, "password2": NEW})

    person.refresh_from_db()
    assert person.check_password(NEW)


def test_without_mail_the_page_names_the_command(anonymous, person):
    for answer, status in (
        (anonymous.get("/account/password/reset/"), 200),
        (anonymous.post("/account/password/reset/", {"email": person.email}), 409),
    ):
        assert answer.status_code == status
        assert "manage.py password_link" in answer.content.decode()
    assert not mail.outbox


def test_a_reset_goes_by_mail_and_works_once(anonymous, person, with_mail):
    answer = anonymous.post("/account/password/reset/", {"email": person.email}, follow=True)
    assert "Check your email" in answer.content.decode()
    [message] = mail.outbox
    assert message.subject == "[Wiggum] Reset your password"
    path = re.search(r"http://testserver(/\S+)", message.body).group(1)

    where = anonymous.get(path, follow=True).redirect_chain[-1][0]
    done = anonymous.post(where, {"password1": NEW, "password2": NEW}, follow=True)

    person.refresh_from_db()
    assert person.check_password(NEW)
    assert "Password changed" in done.content.decode()
    assert "Link expired" in anonymous.get(path, follow=True).content.decode()


def test_a_stranger_gets_the_same_answer_and_no_mail(anonymous, with_mail):
    answer = anonymous.post("/account/password/reset/", {"email": "nobody@example.org"}, follow=True)

    assert "Check your email" in answer.content.decode()
    assert not mail.outbox


def test_resets_are_limited(anonymous, person, with_mail):
    answers = [anonymous.post("/account/password/reset/", {"email": person.email}) for _ in range(30)]

    assert answers[-1].status_code == 429
    assert "Wait a few minutes" in answers[-1].content.decode()


def test_confirming_that_it_is_me(signed_in):
    assert signed_in.get("/account/confirm/").status_code == 200
    wrong = signed_in.post("/account/confirm/", {"password": "wrong"})
    assert "The password is incorrect." in wrong.content.decode()
    assert signed_in.post("/account/confirm/", {"password": OLD}).status_code == 302


def test_a_closed_account_has_its_page(anonymous):
    assert "Account deactivated" in anonymous.get("/account/inactive/").content.decode()
