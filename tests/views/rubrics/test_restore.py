"""Restoring a version as a new one, without overwriting somebody else's."""

import pytest
from django.urls import reverse

from refinement.models import AuditEntry
from refinement.selectors.rubrics.definitions import definition_of
from tests.views.rubrics.given import a_rubric, saved_again

pytestmark = pytest.mark.django_db


@pytest.fixture
def first(project):
    return a_rubric(project, purpose="The first.")


@pytest.fixture
def address(project):
    return reverse("rubric_restore", args=[project.slug, "own"])


def test_it_makes_a_new_version_with_a_note(as_editor, editor, first, address):
    saved_again(first, purpose="The second.")
    answer = as_editor.post(address, {"version": 1, "edited_from": 2})
    newest = first.rubric.versions.first()
    assert answer.status_code == 302
    assert (newest.number, newest.note, newest.created_by) == (3, "Restored from version 1.", editor)
    assert definition_of(newest) == definition_of(first)
    entry = AuditEntry.objects.get(action="rubric.restore")
    assert (entry.before, entry.after) == ({"version": 2}, {"version": 3, "restored_from": 1})


def test_somebody_who_saved_meanwhile_is_not_overwritten(as_editor, project, first, address):
    saved_again(first)
    saved_again(first, purpose="Saved meanwhile.")
    answer = as_editor.post(address, {"version": 1, "edited_from": 2}, follow=True)
    page = answer.content.decode()
    assert first.rubric.versions.count() == 3
    assert "Nothing was restored: version 3 was saved in the meantime." in page
    assert "Saved meanwhile." in page.replace("<ins>", "").replace("</ins>", "")
    assert not AuditEntry.objects.filter(action="rubric.restore").exists()


def test_the_newest_is_not_restored_over_itself(as_editor, first, address):
    answer = as_editor.post(address, {"version": 1, "edited_from": 1}, follow=True)
    assert "No changes to save" in answer.content.decode()
    assert first.rubric.versions.count() == 1


def test_an_identical_version_is_not_added(as_editor, first, address):
    saved_again(first, purpose="The first.")
    answer = as_editor.post(address, {"version": 1, "edited_from": 2}, follow=True)
    assert "No changes to save: the newest version is the same as version 1." in answer.content.decode()
    assert first.rubric.versions.count() == 2


@pytest.mark.parametrize(
    "sent", [{}, {"version": 1}, {"version": "x", "edited_from": 1}, {"version": "9" * 30, "edited_from": 1}]
)
def test_a_form_that_says_nothing_restores_nothing(as_editor, first, address, sent):
    assert "Nothing was restored" in as_editor.post(address, sent, follow=True).content.decode()
    assert first.rubric.versions.count() == 1


def test_a_version_that_is_not_there_is_404(as_editor, first, address):
    assert as_editor.post(address, {"version": 7, "edited_from": 1}).status_code == 404


def test_viewers_outsiders_and_readers_do_not_restore(as_viewer, as_outsider, as_editor, first, address):
    saved_again(first)
    sent = {"version": 1, "edited_from": 2}
    assert as_viewer.post(address, sent).status_code == 403
    assert as_outsider.post(address, sent).status_code == 404
    assert as_editor.get(address).status_code == 405
    assert first.rubric.versions.count() == 2
