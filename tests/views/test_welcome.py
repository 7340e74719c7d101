"""The first-run page."""

import pytest

from refinement.models import Project, SetupLink, User
from refinement.services.people.setup_links import setup_link_digest, setup_link_make

pytestmark = pytest.mark.django_db
PERSON = {
    "name": "Ada",
    "email": "ada@example.org",
    "password": "seven quiet rivers",
    "project_name": "Docs team",
}


@pytest.fixture
def address() -> str:
    return f"/welcome/{setup_link_make()}/"


def test_it_shows_the_form_and_leaks_nothing(anonymous, address):
    answer = anonymous.get(address)

    assert answer.status_code == 200
    assert answer.headers["Referrer-Policy"] == "strict-origin"
    assert "no-store" in answer.headers["Cache-Control"]
    for name in PERSON:
        assert f'name="{name}"' in answer.content.decode()


def test_it_creates_signs_in_and_lands_on_the_project(anonymous, address):
    answer = anonymous.post(address, PERSON, follow=True)

    assert answer.redirect_chain[-1][0] == "/p/docs-team/"
    assert answer.context["user"] == User.objects.get(is_superuser=True)
    assert "Your account and project are ready" in answer.content.decode()


def test_it_does_not_work_twice(anonymous, client, address):
    anonymous.post(address, PERSON)

    for answer in (client.get(address), client.post(address, PERSON | {"email": "late@example.org"})):
        assert answer.status_code == 410
        assert "restart Wiggum" in answer.content.decode()
        assert answer.headers["Referrer-Policy"] == "strict-origin"
    assert User.objects.count() == 1


def test_the_one_who_comes_second_by_a_moment_is_told_so(anonymous, address, monkeypatch):
    """Both forms were valid; between the check and the write somebody else spent the link."""
    monkeypatch.setattr("refinement.views.account.welcome.setup_link_open", lambda token: True)
    SetupLink.objects.all().delete()

    answer = anonymous.post(address, PERSON)

    assert answer.status_code == 410
    assert not User.objects.exists()


def test_a_guessed_token_is_refused(anonymous, address):
    assert anonymous.get("/welcome/guessed/").status_code == 410
    assert anonymous.post("/welcome/guessed/", PERSON).status_code == 410
    assert not User.objects.exists()


def test_a_link_left_over_beside_an_account_is_refused(anonymous, owner):
    SetupLink.objects.create(digest=setup_link_digest("left-over"))

    assert anonymous.get("/welcome/left-over/").status_code == 410


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("email", "not an address", "Enter a valid email address."),
        ("password", "short", "too short"),
        ("password", "12345678901234", "entirely numeric"),
        ("password", "ada@example.org", "too similar"),
        ("name", "", "This field is required."),
        ("project_name", " ", "This field is required."),
    ],
)
def test_wrong_data_is_said_beside_its_field_and_the_rest_is_kept(
    anonymous, address, field, value, complaint
):
    answer = anonymous.post(address, PERSON | {field: value})
    page = answer.content.decode()

    assert answer.status_code == 422
    assert complaint in " ".join(answer.context["form"].errors[field])
    assert f'id="id_{field}_error"' in page
    kept = {name: given for name, given in PERSON.items() if name not in (field, "password")}
    assert all(f'value="{given}"' in page for given in kept.values())
    assert PERSON["password"] not in page
    assert not User.objects.exists()
    assert not Project.objects.exists()


def test_an_empty_post_names_every_field(anonymous, address):
    answer = anonymous.post(address, {})

    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == set(PERSON)


def test_other_methods_are_refused(anonymous, address):
    assert anonymous.put(address).status_code == 405
