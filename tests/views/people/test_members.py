"""The members page: who is listed, and what owners do there."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import Membership
from tests.conftest import member

pytestmark = pytest.mark.django_db


def test_it_lists_members_for_everybody_and_controls_for_owners(as_owner, as_viewer, editor, project):
    for client, controls in ((as_owner, True), (as_viewer, False)):
        answer = client.get(f"/p/{project.slug}/members/")
        page = answer.content.decode()
        assert answer.status_code == 200
        for words in ("Olivia Owner", "edgar@example.org", "Vera Viewer"):
            assert words in page
        assert ("Create invitation" in page) is controls
        assert (f"/members/{editor.pk}/remove/" in page) is controls
        assert f"/p/{project.slug}/members/leave/" in page


def test_others_find_nothing(as_outsider, anonymous, project):
    assert as_outsider.get(f"/p/{project.slug}/members/").status_code == 404
    assert anonymous.get(f"/p/{project.slug}/members/").status_code == 302


def test_an_owner_changes_a_role(as_owner, viewer, project):
    answer = as_owner.post(f"/p/{project.slug}/members/{viewer.pk}/role/", {"role": "editor"}, follow=True)

    assert "now an editor" in answer.content.decode()
    assert Membership.objects.get(user=viewer).role == "editor"


@pytest.mark.parametrize("role", ["", "boss", "OWNER"])
def test_a_role_that_is_none_is_refused_with_words(as_owner, viewer, project, role):
    answer = as_owner.post(f"/p/{project.slug}/members/{viewer.pk}/role/", {"role": role})

    assert answer.status_code == 422
    assert "Choose a role" in answer.content.decode()
    assert Membership.objects.get(user=viewer).role == "viewer"


def test_the_last_owner_is_told_why(as_owner, owner, project):
    for path, data in (
        (f"{owner.pk}/role/", {"role": "viewer"}),
        (f"{owner.pk}/remove/", {}),
        ("leave/", {}),
    ):
        answer = as_owner.post(f"/p/{project.slug}/members/{path}", data)
        assert answer.status_code == 409
        assert "A project needs an owner" in answer.content.decode()
    assert Membership.objects.get(user=owner).role == "owner"


def test_a_removed_member_finds_nothing_at_once(as_owner, as_editor, editor, project):
    address = f"/p/{project.slug}/"
    assert as_editor.get(address).status_code == 200

    answer = as_owner.post(f"{address}members/{editor.pk}/remove/", follow=True)

    assert "Edgar Editor is no longer in this project." in answer.content.decode()
    for path in ("", "runs/", "members/", "rubrics/"):
        assert as_editor.get(f"{address}{path}").status_code == 404
        assert as_editor.get(f"{address}{path}", headers={"HX-Request": "true"}).status_code == 404


def test_a_changed_role_is_felt_at_once(as_owner, as_editor, editor, project):
    as_owner.post(f"/p/{project.slug}/members/{editor.pk}/role/", {"role": "viewer"})

    assert as_editor.get(f"/p/{project.slug}/runs/new/").status_code == 403


def test_who_leaves_lands_outside(as_owner, as_viewer, project):
    answer = as_viewer.post(f"/p/{project.slug}/members/leave/")

    assert answer.headers["Location"] == "/"
    assert as_viewer.get(f"/p/{project.slug}/members/").status_code == 404


def test_a_strangers_number_is_not_found(as_owner, outsider, project):
    assert as_owner.post(f"/p/{project.slug}/members/{outsider.pk}/remove/").status_code == 404
    assert as_owner.post(f"/p/{project.slug}/members/99999/role/", {"role": "owner"}).status_code == 404


def test_names_are_text(as_owner, project):
    member(project, "viewer", "x@example.org", "<script>alert(1)</script>")

    page = as_owner.get(f"/p/{project.slug}/members/").content.decode()

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_number_of_queries_does_not_grow(as_owner, project):
    address = f"/p/{project.slug}/members/"
    as_owner.get(address)
    with CaptureQueriesContext(connection) as few:
        as_owner.get(address)
    for number in range(30):
        person = member(project, "viewer", f"person{number}@example.org", f"Person {number}")
        project.invitations.create(
            role="viewer", digest=str(number), created_by=person, expires_at="2030-01-01T00:00Z"
        )
    with CaptureQueriesContext(connection) as many:
        as_owner.get(address)
    assert len(many) == len(few)
