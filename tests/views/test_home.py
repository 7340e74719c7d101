"""The redirect to the current project, and its home page."""

import pytest

from refinement.models import Membership
from refinement.services.people.accounts import project_create

pytestmark = pytest.mark.django_db


def test_the_start_leads_to_the_only_project(as_viewer, project):
    assert as_viewer.get("/").headers["Location"] == f"/p/{project.slug}/"


def test_the_start_leads_to_the_project_last_used(as_owner, owner, project, other_project):
    Membership.objects.create(user=owner, project=other_project, role="viewer")

    for chosen in (project, other_project, project):
        as_owner.get(f"/p/{chosen.slug}/")
        assert as_owner.get("/").headers["Location"] == f"/p/{chosen.slug}/"


def test_a_person_without_a_project_is_told_whom_to_ask(as_outsider, outsider):
    outsider.memberships.all().delete()

    page = as_outsider.get("/").content.decode()

    assert "Ask a project owner to invite" in page
    assert outsider.email in page


def test_an_administrator_without_a_project_can_make_one(as_outsider, outsider):
    outsider.memberships.all().delete()
    outsider.is_superuser = True
    outsider.save(update_fields=["is_superuser"])

    assert 'href="/projects/new/"' in as_outsider.get("/").content.decode()


@pytest.mark.parametrize("person", ["as_owner", "as_editor", "as_viewer"])
def test_members_see_the_project(request, person, project):
    answer = request.getfixturevalue(person).get(f"/p/{project.slug}/")

    assert answer.status_code == 200
    assert project.name in answer.content.decode()


def test_outsiders_get_404_in_our_look_without_the_name(as_outsider, project):
    answer = as_outsider.get(f"/p/{project.slug}/")

    assert answer.status_code == 404
    assert "Page not found" in answer.content.decode()
    assert project.name not in answer.content.decode()


def test_the_switcher_lists_my_projects_only(as_owner, owner, project, other_project):
    assert other_project.name not in as_owner.get(f"/p/{project.slug}/").content.decode()

    Membership.objects.create(user=owner, project=other_project, role="viewer")

    assert f'href="/p/{other_project.slug}/"' in as_owner.get(f"/p/{project.slug}/").content.decode()


def test_anonymous_people_sign_in_and_come_back(anonymous, project):
    answer = anonymous.get(f"/p/{project.slug}/")

    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/account/login/?next=/p/{project.slug}/"


def test_an_anonymous_partial_sends_the_whole_page_to_sign_in(anonymous, project):
    answer = anonymous.get(
        f"/p/{project.slug}/",
        headers={"HX-Request": "true", "HX-Current-URL": f"http://testserver/p/{project.slug}/?a=1"},
    )

    assert answer.headers["HX-Redirect"] == f"/account/login/?next=/p/{project.slug}/%3Fa%3D1"


@pytest.mark.parametrize("path", ["/", "/p/docs-team/"])
def test_homes_are_only_read(as_owner, path):
    assert as_owner.post(path).status_code == 405


def test_the_number_of_queries_does_not_grow_with_projects(
    as_owner, owner, project, django_assert_max_num_queries
):
    as_owner.get(f"/p/{project.slug}/")
    for number in range(10):
        project_create(owner=owner, name=f"Project {number}")

    with django_assert_max_num_queries(27):
        as_owner.get(f"/p/{project.slug}/")


def test_only_what_is_broken_is_shown(as_owner, project, monkeypatch):
    health = "refinement.views.projects.home.worker_health"
    monkeypatch.setattr(health, lambda: {"ok": True, "message": "1 worker online"})
    assert "chip-warn" not in as_owner.get(f"/p/{project.slug}/").content.decode()
    monkeypatch.setattr(health, lambda: {"ok": False, "message": "No worker online."})
    page = as_owner.get(f"/p/{project.slug}/").content.decode()
    assert page.count('class="broken"') == 1
    assert "No worker online." in page


def test_before_set_up_the_start_says_how_to_get_the_link(anonymous):
    answer = anonymous.get("/")
    assert answer.status_code == 200
    assert "manage.py setup_link" in answer.content.decode()


def test_with_an_account_the_start_leads_to_sign_in(anonymous, owner):
    assert anonymous.get("/?a=1").headers["Location"] == "/account/login/?next=/%3Fa%3D1"
