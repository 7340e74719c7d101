"""Creating another project."""

import pytest

from refinement.models import Membership, Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_administrator(as_owner, owner):
    owner.is_superuser = True
    owner.save(update_fields=["is_superuser"])
    return as_owner


def test_an_administrator_makes_one_and_owns_it(as_administrator, owner):
    answer = as_administrator.post("/projects/new/", {"name": "Second team"}, follow=True)

    assert answer.redirect_chain == [("/p/second-team/", 302)]
    assert Membership.objects.get(project__slug="second-team").user == owner
    assert "Project Second team created" in answer.content.decode()


def test_the_form_is_shown(as_administrator):
    assert as_administrator.get("/projects/new/").status_code == 200


@pytest.mark.parametrize("name", ["", "   ", "x" * 121])
def test_a_bad_name_is_refused_beside_its_field(as_administrator, name):
    answer = as_administrator.post("/projects/new/", {"name": name})

    assert answer.status_code == 422
    assert 'id="id_name_error"' in answer.content.decode()
    assert Project.objects.count() == 1


@pytest.mark.parametrize("person", ["as_owner", "as_viewer", "as_outsider"])
def test_others_are_told_whom_to_ask(request, person):
    client = request.getfixturevalue(person)
    before = Project.objects.count()

    for answer in (client.get("/projects/new/"), client.post("/projects/new/", {"name": "Mine"})):
        assert answer.status_code == 403
        assert "Only administrators of this instance can create projects" in answer.content.decode()
    assert Project.objects.count() == before


def test_anonymous_people_sign_in_first(anonymous):
    assert (
        anonymous.post("/projects/new/", {"name": "Mine"}).headers["Location"].startswith("/account/login/")
    )


def test_other_methods_are_refused(as_administrator):
    assert as_administrator.delete("/projects/new/").status_code == 405
