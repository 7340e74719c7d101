"""Trying checks on a text in the editor: nothing is saved, and all input stays."""

import pytest
from django.urls import reverse

from tests.views.rubrics.given import MARKUP, a_rubric
from tests.views.rubrics.test_edit import HTMX, typed

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(project):
    return a_rubric(project, "ralph")


@pytest.fixture
def address(project, version):
    return reverse("rubric_try_check", args=[project.slug, "own"])


def test_one_check_by_htmx(as_editor, address, version):
    sent = typed(version, **{"try": "1", "try-text": f"{MARKUP} TODO later"})

    answer = as_editor.post(address, sent, headers=HTMX)

    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<html" not in page
    assert "A placeholder is left: “TODO”" in page
    assert "line 1, column" in page
    assert "<mark>TODO</mark>" in page
    assert "<script>" not in page
    assert page.count("chip-bad") == 1


def test_all_checks_without_script(as_editor, address, version):
    sent = typed(version, **{"try": "all", "try-text": "# One\n# Two\nDone.", "purpose": "Typed."})

    answer = as_editor.post(address, sent)

    page = answer.content.decode()
    assert "<html" in page
    assert "Typed." in page
    assert [result.passed for result in answer.context["tried"]] == [False, True, True]
    assert version.rubric.versions.count() == 1


def test_a_check_that_is_not_set_up_says_why(as_editor, address, version):
    sent = typed(version, **{"try": "0", "try-text": "x", "check-0-p-minimum": "many"})

    page = as_editor.post(address, sent, headers=HTMX).content.decode()

    assert "The check is not valid" in page
    assert "Not a whole number" in page


def test_others_and_other_methods_are_refused(as_viewer, as_outsider, anonymous, as_editor, address, version):
    sent = typed(version, **{"try": "0", "try-text": "x"})

    assert as_viewer.post(address, sent, headers=HTMX).status_code == 403
    assert as_outsider.post(address, sent, headers=HTMX).status_code == 404
    assert anonymous.post(address, sent).status_code == 302
    assert as_editor.get(address).status_code == 405


def test_a_rubric_that_is_not_there(as_editor, project):
    address = reverse("rubric_try_check", args=[project.slug, "nowhere"])

    assert as_editor.post(address, {"try": "0"}, headers=HTMX).status_code == 404
