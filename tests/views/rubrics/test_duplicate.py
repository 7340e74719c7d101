"""Copies of a rubric, in this project or another."""

from dataclasses import replace

import pytest
from django.urls import reverse

from refinement.models import AuditEntry, Membership, Rubric
from refinement.selectors.rubrics.definitions import definition_of
from tests.views.rubrics.given import a_rubric, saved_again

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(project):
    return a_rubric(project)


@pytest.fixture
def address(project):
    return reverse("rubric_duplicate", args=[project.slug, "own"])


def sent(project, name="Copy of Our own", **more):
    return {"copy-name": name, "copy-project": project.slug, **more}


def test_a_copy_is_a_rubric_of_its_own(as_editor, editor, project, version, address):
    answer = as_editor.post(address, sent(project))
    copy = Rubric.objects.get(slug="copy-of-our-own")
    first = copy.versions.get()
    assert answer.headers["Location"] == reverse("rubric_page", args=[project.slug, copy.slug])
    assert definition_of(first) == replace(definition_of(version), name="Copy of Our own")
    assert (first.number, first.note, first.created_by) == (1, "Copied from Our own, version 1.", editor)
    entry = AuditEntry.objects.get(action="rubric.duplicate")
    assert (entry.before["rubric"], entry.after["rubric"]) == ("own", "copy-of-our-own")


def test_an_older_version_can_be_copied(as_editor, project, version, address):
    saved_again(version, purpose="Newer.")
    as_editor.post(address, sent(project, version="1"))
    copy = Rubric.objects.get(slug="copy-of-our-own").versions.get()
    assert copy.purpose == version.purpose


def test_it_can_go_to_another_project_of_an_editor(as_editor, editor, version, address, other_project):
    Membership.objects.create(user=editor, project=other_project, role="editor")
    as_editor.post(address, sent(other_project))
    assert other_project.rubrics.get().name == "Copy of Our own"


@pytest.mark.parametrize("role", [None, "viewer"])
def test_it_goes_nowhere_that_the_person_may_not_edit(
    as_editor, editor, version, address, other_project, role
):
    if role:
        Membership.objects.create(user=editor, project=other_project, role=role)
    answer = as_editor.post(address, sent(other_project, name="Mine"))
    assert answer.status_code == 422
    assert "in which you are an editor or owner" in answer.content.decode()
    assert 'value="Mine"' in answer.content.decode()
    assert Rubric.objects.count() == 1
    assert AuditEntry.objects.filter(action="rubric.duplicate").count() == 0


def test_a_copy_needs_a_name(as_editor, project, version, address):
    answer = as_editor.post(address, sent(project, name=" "))
    assert answer.status_code == 422
    assert "Enter a name for the copy." in answer.content.decode()


def test_viewers_outsiders_and_readers_make_none(
    as_viewer, as_outsider, as_editor, project, version, address
):
    assert as_viewer.post(address, sent(project)).status_code == 403
    assert as_outsider.post(address, sent(project)).status_code == 404
    assert as_editor.get(address).status_code == 405
    assert Rubric.objects.count() == 1
