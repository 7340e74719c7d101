"""The first person, new projects and names."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from refinement.models import Membership, Project, SetupLink, User
from refinement.services.people.accounts import (
    SetupLinkSpent,
    first_person_create,
    profile_change,
    project_create,
    setup_link_open,
)
from refinement.services.people.setup_links import setup_link_digest, setup_link_make

pytestmark = pytest.mark.django_db
PERSON = {
    "name": "Ada",
    "email": "Ada@Example.org",
    "password": "seven quiet rivers",
    "project_name": "Docs team",
}


def make_token() -> str:
    token = setup_link_make()
    assert token
    return token


def test_the_first_person_administers_and_owns():
    user = first_person_create(token=make_token(), **PERSON)

    assert user.is_superuser
    assert user.email == "ada@example.org"
    assert user.check_password("seven quiet rivers")
    membership = Membership.objects.get()
    assert (membership.user, membership.role, membership.project.slug) == (user, "owner", "docs-team")


def test_the_link_is_spent_with_all_others():
    token = make_token()
    SetupLink.objects.create(digest=setup_link_digest("an older one"))

    first_person_create(token=token, **PERSON)

    assert not SetupLink.objects.exists()
    assert not setup_link_open(token)
    with pytest.raises(SetupLinkSpent):
        first_person_create(token=token, **(PERSON | {"email": "second@example.org"}))
    assert User.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_who_post_at_once_one_wins():
    token, start = make_token(), Barrier(2)

    def post(number: int) -> bool:
        start.wait(timeout=10)
        try:
            first_person_create(token=token, **(PERSON | {"email": f"person{number}@example.org"}))
        except SetupLinkSpent:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        won = list(pool.map(post, range(2)))

    assert sorted(won) == [False, True]
    assert User.objects.count() == Project.objects.count() == 1


def test_an_unknown_token_makes_nobody():
    make_token()

    with pytest.raises(SetupLinkSpent):
        first_person_create(token="guessed", **PERSON)

    assert not User.objects.exists()
    assert SetupLink.objects.count() == 1


def test_a_link_is_closed_once_anyone_has_an_account(owner):
    SetupLink.objects.create(digest=setup_link_digest("left over"))

    assert not setup_link_open("left over")
    with pytest.raises(SetupLinkSpent):
        first_person_create(token="left over", **PERSON)


def test_a_failure_half_way_leaves_the_link_usable(monkeypatch):
    token = make_token()
    monkeypatch.setattr(Project, "save", lambda *args, **kwargs: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        first_person_create(token=token, **PERSON)

    assert not User.objects.exists()
    assert setup_link_open(token)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Docs team", "docs-team-2"),
        ("Docs  Team!", "docs-team-2"),
        ("Technik & Doku", "technik-doku"),
        ("文書", "project"),
        ("x" * 120, "x" * 54),
    ],
)
def test_a_projects_address_comes_from_its_name_and_is_free(owner, project, name, slug):
    Project.objects.filter(pk=project.pk).update(slug="docs-team")

    made = project_create(owner=owner, name=name)

    assert made.slug == slug
    assert Membership.objects.get(project=made).role == "owner"


def test_equal_names_get_numbers(owner):
    slugs = [project_create(owner=owner, name="Same").slug for _ in range(3)]

    assert slugs == ["same", "same-2", "same-3"]


def test_a_person_can_be_renamed(owner):
    profile_change(user=owner, name="  Grace ")

    owner.refresh_from_db()
    assert owner.name == "Grace"


def test_a_name_that_is_too_long_is_refused(owner):
    with pytest.raises(ValidationError):
        profile_change(user=owner, name="x" * 121)


def test_the_first_person_owns_what_the_command_line_made_before():
    local = Project.objects.create(name="Local", slug="local")

    user = first_person_create(token=make_token(), **PERSON)

    roles = dict(Membership.objects.filter(user=user).values_list("project__slug", "role"))
    assert roles == {"local": "owner", "docs-team": "owner"}
    assert local.memberships.count() == 1


def test_a_new_project_has_the_published_rubrics():
    user = first_person_create(token=make_token(), **PERSON)

    slugs = set(user.projects.get().rubrics.values_list("slug", flat=True))

    assert slugs == {"wiggum", "ralph", "simmer", "simmer-code"}
