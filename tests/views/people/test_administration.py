"""The administration pages: only for administrators."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from refinement.models import Membership, Project, User
from refinement.selectors import health

pytestmark = pytest.mark.django_db
PAGES = ("/administration/", "/administration/projects/", "/administration/system/")


@pytest.fixture
def boss(db) -> User:
    return User.objects.create_superuser("berta@example.org", None, name="Berta Boss")


@pytest.fixture
def as_boss(boss) -> Client:
    client = Client()
    client.force_login(boss)
    return client


@pytest.fixture(autouse=True)
def nobody_asked(monkeypatch):
    """Endpoints are not looked at: a test has no model servers."""

    def seen(specs):
        return [
            {"name": spec.name, "ok": spec.name == "ollama", "message": f"{spec.name} was seen."}
            for spec in specs
        ]

    monkeypatch.setattr(health, "check_endpoints", seen)
    health.health_cache.forget()
    yield
    health.health_cache.forget()


@pytest.mark.parametrize("page", PAGES)
def test_only_administrators_see_it(as_boss, as_owner, anonymous, page):
    assert as_boss.get(page).status_code == 200
    assert as_owner.get(page).status_code == 403
    assert anonymous.get(page).status_code == 302
    assert as_boss.post(page).status_code == 405


def test_the_way_there_is_in_the_account_menu(as_boss, as_owner, project):
    assert "/administration/" in as_boss.get("/account/").content.decode()
    assert "/administration/" not in as_owner.get("/account/").content.decode()


def test_people_are_listed_and_found(as_boss, owner, outsider):
    assert "olivia@example.org" in as_boss.get("/administration/").content.decode()

    found = as_boss.get("/administration/", {"q": "OTTO"}).content.decode()
    assert "otto@example.org" in found
    assert "olivia@example.org" not in found
    assert "match “&lt;x&gt;”" in as_boss.get("/administration/", {"q": "<x>"}).content.decode()


def test_an_account_is_closed_and_opened(as_boss, as_owner, owner):
    address = f"/administration/people/{owner.pk}/account/"

    assert "signed out everywhere" in as_boss.post(address, {"active": "no"}, follow=True).content.decode()
    assert as_owner.get("/account/").status_code == 302
    as_boss.post(address, {"active": "yes"})

    owner.refresh_from_db()
    assert owner.is_active


def test_an_administrator_is_named(as_boss, as_owner, owner):
    as_boss.post(f"/administration/people/{owner.pk}/administrator/", {"administrator": "yes"})

    assert as_owner.get("/administration/").status_code == 200


def test_the_last_administrator_is_told_why(as_boss, boss):
    for path, data in (("account", {"active": "no"}), ("administrator", {"administrator": "no"})):
        answer = as_boss.post(f"/administration/people/{boss.pk}/{path}/", data)
        assert answer.status_code == 409
        assert "The instance needs an administrator" in answer.content.decode()


def test_nobody_else_changes_anything(as_owner, owner, boss, project):
    for path in (
        f"people/{boss.pk}/account",
        f"people/{owner.pk}/administrator",
        f"projects/{project.pk}/adopt",
    ):
        answer = as_owner.post(f"/administration/{path}/", {"administrator": "yes"})
        assert answer.status_code == 403
    owner.refresh_from_db()
    assert not owner.is_superuser


def test_somebody_who_is_not_there(as_boss):
    assert as_boss.post("/administration/people/4711/account/").status_code == 404
    assert as_boss.post("/administration/projects/4711/adopt/").status_code == 404


def test_projects_are_counted_once_each(as_boss, owner, editor, viewer, project, other_project):
    rows = {row.slug: row for row in as_boss.get("/administration/projects/").context["projects"]}

    assert (rows["alpha"].member_count, rows["alpha"].run_count, rows["alpha"].has_owner) == (3, 0, True)
    assert (rows["beta"].member_count, rows["beta"].has_owner) == (0, False)


def test_a_project_without_an_owner_can_be_taken_over(as_boss, boss, other_project, owner, project):
    as_boss.post(f"/administration/projects/{other_project.pk}/adopt/")
    answer = as_boss.post(f"/administration/projects/{project.pk}/adopt/", follow=True)

    assert list(Membership.objects.filter(user=boss).values_list("project__slug", "role")) == [
        ("beta", "owner")
    ]
    assert "has an owner who can sign in" in answer.content.decode()


def test_the_system_names_its_parts_and_endpoints(as_boss):
    page = as_boss.get("/administration/system/").content.decode()

    for words in (
        "<strong>Database</strong>",
        ">OK</span>",
        "Worker",
        "ollama was seen.",
        ">Available<",
        "Not available",
    ):
        assert words in page


@pytest.mark.parametrize("page", ["/administration/", "/administration/projects/"])
def test_the_number_of_queries_does_not_grow(as_boss, owner, page):
    as_boss.get(page)
    with CaptureQueriesContext(connection) as few:
        as_boss.get(page)
    for number in range(20):
        User.objects.create_user(f"person{number}@example.org", None)
        Project.objects.create(name=f"Project {number}", slug=f"project-{number}")
    with CaptureQueriesContext(connection) as many:
        as_boss.get(page)
    assert len(many) == len(few)
