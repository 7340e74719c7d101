"""Signing in and out."""

import pytest
from django.core.cache import cache
from django.test import Client

pytestmark = pytest.mark.django_db
PASSWORD = "three green lanterns"


@pytest.fixture(autouse=True)
def fresh_limits():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def person(owner):
    owner.set_password(PASSWORD)
    owner.save(update_fields=["password"])
    return owner


def sign_in(client, email, password=PASSWORD, **extra):
    return client.post("/account/login/", {"login": email, "password": password, **extra})


def test_the_form_is_shown_to_everyone(anonymous):
    answer = anonymous.get("/account/login/")

    assert answer.status_code == 200
    assert "no-store" in answer.headers["Cache-Control"]


def test_a_person_signs_in_by_mail_address_in_any_case(anonymous, person):
    answer = sign_in(anonymous, person.email.upper())

    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    assert anonymous.get("/account/").status_code == 200


def test_one_comes_back_to_where_one_was_going(anonymous, person, project):
    assert sign_in(anonymous, person.email, next="/account/").headers["Location"] == "/account/"


def test_one_is_never_sent_to_another_site(anonymous, person):
    assert sign_in(anonymous, person.email, next="https://evil.example/").headers["Location"] == "/"


@pytest.mark.parametrize("email", ["owner", "nobody@example.org"])
def test_a_wrong_pair_says_nothing_about_which_is_wrong(anonymous, person, email):
    answer = sign_in(anonymous, person.email if email == "owner" else email, "wrong")

    assert "The email or password is incorrect" in answer.content.decode()
    assert "wrong" not in answer.content.decode().split("<form")[1].split("The email or password")[0]


def test_a_closed_account_stays_out(anonymous, person):
    person.is_active = False
    person.save(update_fields=["is_active"])

    answer = sign_in(anonymous, person.email)

    assert answer.headers["Location"] == "/account/inactive/"
    assert anonymous.get("/account/").status_code == 302


def test_guessing_is_slowed_down(anonymous, person):
    for _ in range(5):
        assert (
            "The email or password is incorrect" in sign_in(anonymous, person.email, "wrong").content.decode()
        )

    assert "Too many failed attempts" in sign_in(anonymous, person.email).content.decode()


def test_signing_out_needs_a_post(as_owner):
    assert "Sign out?" in as_owner.get("/account/logout/").content.decode()
    assert as_owner.get("/account/").status_code == 200

    answer = as_owner.post("/account/logout/", follow=True)

    assert answer.redirect_chain == [("/account/login/", 302)]
    assert "Signed out." in answer.content.decode()
    assert as_owner.get("/account/").status_code == 302


def test_a_form_without_its_token_says_what_to_do(person):
    answer = sign_in(Client(enforce_csrf_checks=True), person.email)

    assert answer.status_code == 403
    assert "reload the page" in answer.content.decode()


@pytest.mark.parametrize("method", ["get", "post"])
def test_there_is_no_open_signup(anonymous, method, django_user_model):
    answer = getattr(anonymous, method)(
        "/account/signup/", {"email": "new@example.org", "password1": PASSWORD}
    )

    assert answer.status_code == 403
    assert "Invitation required" in answer.content.decode()
    assert not django_user_model.objects.exists()


@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/", "/account/email/"])
def test_pages_of_allauth_that_we_do_not_dress_are_not_there(as_owner, path):
    assert as_owner.get(path).status_code == 404
