"""Versions of a rubric: the list of them, and two side by side."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.engine.profiles import rubric_for
from tests.views.rubrics.given import a_finished_run, a_rubric, saved_again

pytestmark = pytest.mark.django_db


@pytest.fixture
def versions(project, editor):
    first = a_rubric(project, purpose="Guides for people who are new to the service.")
    second = saved_again(
        first,
        user=editor,
        note="For old hands.",
        purpose="Guides for people who are used to the service.",
        policy=replace(rubric_for("wiggum").policy, pass_threshold=Decimal(8)),
    )
    return [first, second]


@pytest.fixture
def place(project):
    return [project.slug, "own"]


def test_every_version_with_author_time_note_and_runs(as_viewer, project, versions, place):
    a_finished_run(project, versions[0])
    a_finished_run(project, versions[0])
    answer = as_viewer.get(reverse("rubric_versions", args=place))
    page = answer.content.decode()
    assert [(entry.number, entry.runs_count) for entry in answer.context["page"]] == [(2, 0), (1, 2)]
    for words in (
        "For old hands.",
        "Edgar Editor",
        "just now",
        "Changes",
        f'datetime="{versions[1].created_at.isoformat()}"',
    ):
        assert words in page
    assert "Restore" not in page.replace("Restoring", "")


def test_editors_can_restore_older_ones(as_editor, versions, place):
    page = as_editor.get(reverse("rubric_versions", args=place)).content.decode()
    assert page.count(f'action="{reverse("rubric_restore", args=place)}"') == 1


def test_the_comparison_marks_the_words_that_differ(as_viewer, versions, place):
    answer = as_viewer.get(reverse("rubric_compare", args=place), {"a": 1, "b": 2})
    page = answer.content.decode()
    changed = {entry.label: (entry.before, entry.after) for entry in answer.context["comparison"].changed}
    assert changed["Pass mark"] == ("9", "8")
    assert set(changed) == {"Purpose", "Pass mark"}
    assert "<del>new</del>" in page
    assert "<ins>used</ins>" in page
    assert page.index("2 fields differ") < page.index("unchanged field")


def test_without_a_choice_the_newest_is_compared_with_the_one_before(as_viewer, versions, place):
    answer = as_viewer.get(reverse("rubric_compare", args=place))
    assert (answer.context["before"].number, answer.context["after"].number) == (1, 2)


def test_a_version_compared_with_itself_says_so(as_viewer, versions, place):
    page = as_viewer.get(reverse("rubric_compare", args=place), {"a": 2, "b": 2}).content.decode()
    assert "Choose two different versions." in page


@pytest.mark.parametrize(
    "chosen", [{"a": 9}, {"b": 9}, {"a": "x"}, {"a": "-1"}, {"a": "0"}, {"b": "²"}, {"b": "9" * 40}]
)
def test_a_choice_that_is_not_there_is_404(as_viewer, versions, place, chosen):
    assert as_viewer.get(reverse("rubric_compare", args=place), chosen).status_code == 404


def test_htmx_gets_the_comparison_alone(as_viewer, versions, place):
    page = as_viewer.get(
        reverse("rubric_compare", args=place), headers={"HX-Request": "true"}
    ).content.decode()
    assert page.lstrip().startswith('<div class="stack" id="comparison">')


@pytest.mark.parametrize("name", ["rubric_versions", "rubric_compare"])
def test_outsiders_find_nothing_and_nobody_posts(as_outsider, as_owner, versions, place, name):
    assert as_outsider.get(reverse(name, args=place)).status_code == 404
    assert as_owner.post(reverse(name, args=place)).status_code == 405


@pytest.mark.parametrize("name", ["rubric_versions", "rubric_compare"])
def test_the_number_of_queries_does_not_grow(as_owner, owner, project, versions, place, name):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            assert as_owner.get(reverse(name, args=place)).status_code == 200
        return len(captured)

    queries()
    small = queries()
    for number in range(20):
        a_finished_run(project, saved_again(versions[0], user=owner, note=f"{number}"))
    assert queries() == small
