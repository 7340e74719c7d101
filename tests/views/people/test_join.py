"""The page of an invitation link."""

from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.models import Invitation, Membership, User
from refinement.services.people.invitations import invitation_make, invitation_revoke

pytestmark = pytest.mark.django_db
PERSON = {"name": "Nina New", "email": "nina@example.org", "password": "seven quiet rivers"}


@pytest.fixture
def made(project, owner) -> tuple[Invitation, str]:
    return invitation_make(project=project, role="editor", days=7, by=owner, email="guess@example.org")


@pytest.fixture
def address(made) -> str:
    return f"/join/{made[1]}/"


def test_it_shows_the_form_and_leaks_nothing(anonymous, address):
    answer = anonymous.get(address)
    page = answer.content.decode()

    assert answer.status_code == 200
    assert answer.headers["Referrer-Policy"] == "strict-origin"
    assert "no-store" in answer.headers["Cache-Control"]
    assert "noindex" in answer.headers["X-Robots-Tag"]
    assert "Olivia Owner" in page
    assert "as an editor" in page
    assert 'value="guess@example.org"' in page


def test_a_new_person_is_signed_in_and_lands_in_the_project(anonymous, address, project):
    answer = anonymous.post(address, PERSON, follow=True)

    assert answer.redirect_chain[-1][0] == f"/p/{project.slug}/"
    assert answer.context["user"].email == "nina@example.org"
    assert Membership.objects.get(user__email="nina@example.org").role == "editor"


def test_somebody_signed_in_joins_by_a_button(as_outsider, outsider, address, project):
    page = as_outsider.get(address).content.decode()
    assert "otto@example.org" in page
    assert 'name="password"' not in page

    answer = as_outsider.post(address, follow=True)

    assert "You are now an editor in Alpha." in answer.content.decode()
    assert Membership.objects.get(project=project, user=outsider).role == "editor"


def test_a_member_is_told_and_the_link_stays(as_viewer, address, made):
    assert "You are already a member" in as_viewer.get(address).content.decode()
    assert as_viewer.post(address).status_code == 409
    assert Invitation.objects.get().state == "open"
    assert Membership.objects.get(user__email="vera@example.org").role == "viewer"


def spend(how, made, project, owner):
    if how == "used":
        Invitation.objects.update(used_at=timezone.now())
    elif how == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "revoked":
        invitation_revoke(project=project, number=made[0].pk, by=owner)


@pytest.mark.parametrize("how", ["used", "expired", "revoked", "guessed"])
def test_a_spent_link_answers_410_with_words(anonymous, as_outsider, made, address, project, owner, how):
    spend(how, made, project, owner)
    where = "/join/guessed/" if how == "guessed" else address

    for client in (anonymous, as_outsider):
        for answer in (client.get(where), client.post(where, PERSON)):
            assert answer.status_code == 410
            assert "Ask for a new invitation" in answer.content.decode()
            assert answer.headers["Referrer-Policy"] == "strict-origin"
    assert not User.objects.filter(email=PERSON["email"]).exists()


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("email", "not an address", "Enter a valid email address."),
        ("email", "OLIVIA@example.org", "An account with this email already exists."),
        ("password", "short", "too short"),
        ("name", " ", "This field is required."),
    ],
)
def test_wrong_data_is_said_beside_its_field_and_the_rest_is_kept(
    anonymous, address, field, value, complaint
):
    answer = anonymous.post(address, PERSON | {field: value})
    page = answer.content.decode()

    assert answer.status_code == 422
    assert complaint in " ".join(answer.context["form"].errors[field])
    kept = {name: given for name, given in PERSON.items() if name not in (field, "password")}
    assert all(f'value="{given}"' in page for given in kept.values())
    assert PERSON["password"] not in page
    assert Invitation.objects.get().state == "open"


def test_other_methods_are_refused(anonymous, address):
    assert anonymous.put(address).status_code == 405
