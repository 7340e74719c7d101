"""Saved views: private or shared, opened, deleted, and names that are taken."""

import pytest
from django.urls import reverse

from refinement.models import AuditEntry, SavedView
from refinement.services.runs import saved_views
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(project):
    return reverse("run_view_save", args=[project.slug])


def test_a_shared_view_is_everybodys(as_editor, as_viewer, address, project, editor):
    runs_of(project)
    answer = as_editor.post(
        address,
        {"name": "  Failing   docs ", "query": "tag=docs&outcome=FAIL&q=&after=3", "shared": "on"},
    )
    assert answer.headers["Location"] == f"/p/{project.slug}/runs/?outcome=FAIL&tag=docs"
    view = SavedView.objects.get()
    assert (view.name, view.query, view.created_by) == ("Failing docs", "outcome=FAIL&tag=docs", editor)
    page = as_viewer.get(f"/p/{project.slug}/runs/").content.decode()
    assert "Failing docs" in page
    assert "?outcome=FAIL&amp;tag=docs" in page
    assert AuditEntry.objects.get(action="view.save").after["name"] == "Failing docs"


@pytest.mark.parametrize(
    ("name", "words"), [("Ours", "A view named “Ours” already exists"), (" ", "Enter a name")]
)
def test_a_name_that_cannot_be_used_is_said_on_the_same_list(as_editor, address, project, name, words):
    runs_of(project)
    SavedView.objects.create(project=project, name="Ours", query="", shared=True)
    answer = as_editor.post(address, {"name": name, "query": "outcome=FAIL", "shared": "on"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert 'name="query" value="outcome=FAIL"' in page
    assert SavedView.objects.count() == 1


def test_another_project_may_use_the_same_name(as_editor, address, other_project):
    SavedView.objects.create(project=other_project, name="Ours", query="")
    assert as_editor.post(address, {"name": "Ours", "query": ""}).status_code == 302


@pytest.mark.parametrize("shared", ["", "on"])
def test_there_is_room_for_so_many(as_editor, address, project, monkeypatch, shared):
    monkeypatch.setattr(saved_views, "MOST_VIEWS", 1)
    asked = {"name": "First", "query": "", "shared": shared}
    assert as_editor.post(address, asked).status_code == 302
    again = as_editor.post(address, asked | {"name": "Second"})
    assert "Delete one first" in again.content.decode()


def test_a_private_view_is_its_makers_alone(as_viewer, as_editor, as_owner, address, project, viewer):
    """Viewers save views of their own, too."""
    runs_of(project)
    assert as_viewer.post(address, {"name": "Mine", "query": "outcome=FAIL"}).status_code == 302
    assert as_owner.post(address, {"name": "Mine", "query": ""}).status_code == 302  # a name of their own
    view = SavedView.objects.get(created_by=viewer)
    assert not view.shared
    here = f"/p/{project.slug}/runs/"
    assert "Mine" in as_viewer.get(here).content.decode()
    assert "Mine" not in as_editor.get(here).content.decode()
    assert as_editor.post(reverse("run_view_delete", args=[project.slug, view.pk])).status_code == 404
    assert as_viewer.post(reverse("run_view_delete", args=[project.slug, view.pk])).status_code == 302


def test_a_shared_view_can_be_deleted_by_editors(as_editor, as_viewer, project):
    view = SavedView.objects.create(project=project, name="Ours", query="", shared=True)
    assert as_viewer.post(reverse("run_view_delete", args=[project.slug, view.pk])).status_code == 403
    answer = as_editor.post(reverse("run_view_delete", args=[project.slug, view.pk]))
    assert answer.status_code == 302
    assert not SavedView.objects.exists()
    assert as_editor.post(reverse("run_view_delete", args=[project.slug, view.pk])).status_code == 404


def test_views_of_another_project_are_not_there(as_outsider, as_editor, project, other_project):
    view = SavedView.objects.create(project=other_project, name="Theirs", query="", shared=True)
    assert as_editor.post(reverse("run_view_delete", args=[project.slug, view.pk])).status_code == 404
    own = SavedView.objects.create(project=project, name="Ours", query="", shared=True)
    assert as_outsider.post(reverse("run_view_delete", args=[project.slug, own.pk])).status_code == 404
    assert SavedView.objects.count() == 2


def test_viewers_share_no_views(as_viewer, address):
    assert as_viewer.post(address, {"name": "Mine", "query": "", "shared": "on"}).status_code == 403
    assert as_viewer.get(address).status_code == 405
