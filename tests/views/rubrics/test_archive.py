"""Archiving rubrics: out of the lists and back, without losing anything."""

import pytest
from django.urls import reverse

from refinement.models import AuditEntry, Rubric
from tests.models.given import a_run
from tests.views.rubrics.given import a_rubric

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(project):
    return a_rubric(project)


@pytest.fixture
def address(project):
    return reverse("rubric_archive", args=[project.slug, "own"])


def audited():
    entries = AuditEntry.objects.filter(action__contains="archive").order_by("id")
    return [(entry.action, entry.before, entry.after) for entry in entries]


def test_there_and_back(as_editor, project, version, address):
    listed = reverse("rubric_list", args=[project.slug])
    as_editor.post(address, {"archived": "1"})
    as_editor.post(address, {"archived": "1"})
    assert Rubric.objects.get().archived_at is not None
    assert as_editor.get(listed).context["rubrics"] == []

    as_editor.post(address, {"archived": "0"})
    assert Rubric.objects.get().archived_at is None
    assert len(as_editor.get(listed).context["rubrics"]) == 1
    assert audited() == [
        ("rubric.archive", {"archived": False}, {"archived": True}),
        ("rubric.unarchive", {"archived": True}, {"archived": False}),
    ]


def test_an_archived_rubric_keeps_its_page_and_its_runs(as_editor, project, version, address):
    run = a_run(project, version)
    as_editor.post(address)
    page = as_editor.get(reverse("rubric_page", args=[project.slug, "own"])).content.decode()
    assert "archived</span>" in page
    assert "Unarchive" in page
    run.refresh_from_db()
    assert run.status == "running"


def test_viewers_outsiders_and_readers_do_not_archive(as_viewer, as_outsider, as_editor, version, address):
    assert as_viewer.post(address).status_code == 403
    assert as_outsider.post(address).status_code == 404
    assert as_editor.get(address).status_code == 405
    assert Rubric.objects.get().archived_at is None
