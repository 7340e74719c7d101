"""The page of a rubric: all content of any version, escaped."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Budget, Check, Criterion, Information
from refinement.models import Run
from refinement.services.rubrics.editing import rubric_create, version_create
from tests.models.given import a_run
from tests.views.rubrics.given import BACKWARDS, a_finished_run, a_rubric, hostile_definition, saved_again

pytestmark = pytest.mark.django_db


def page_of(version):
    return reverse("rubric_page", args=[version.rubric.project.slug, version.rubric.slug])


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("wiggum", ["0 to 10, decimals allowed", "9 or more of 10", "25 %", "The scores repeat.", "trusted"]),
        ("ralph", ["No placeholders", "less than 0.05", "checks alone decide", "along with the criteria."]),
        ("simmer", ["1 to 10, whole numbers", "33.3 %", "primary", "At most 4 rounds", "ends as done"]),
    ],
)  # fmt: skip
def test_a_profile_is_explained_in_words(as_viewer, project, profile, words):
    page = as_viewer.get(page_of(a_rubric(project, profile))).content.decode()
    for said in words:
        assert said in page


def test_every_setting_of_a_version_is_there(as_viewer, project):
    base = rubric_for("wiggum")
    policy = replace(base.policy, budget=Budget(tokens=50_000, calls=8), judge_limit_chars=7_777)
    version = a_rubric(
        project,
        policy=policy,
        checks=(Check("c1", "length", {"minimum": 1234, "unit": "words"}, suggestion="Write more."),),
        background="Readers are new.",
        output_contract="Markdown only.",
        search_space="Shorter or longer.",
        templates={"feedback": "Own words: {{ issues|length }}"},
        calibration_text="A seed.",
        calibration_scores={"depth": Decimal(6)},
        context=replace(base.context, judge=base.context.judge | {Information.HISTORY}),
    )
    page = as_viewer.get(page_of(version)).content.decode()
    for said in (
        *("50,000 tokens, 8 calls", "7,777 characters", "1,234", "words", "Write more.", "Readers are new."),
        *("Markdown only.", "Shorter or longer.", "Own words: {{ issues|length }}", "A seed."),
        *("usually hidden", "The judge sees the history, which the default hides."),
    ):
        assert said in page


def test_an_older_version_says_so_and_keeps_its_words(as_viewer, project):
    first = a_rubric(project, purpose="The first purpose.")
    saved_again(first, purpose="The second purpose.")
    assert "The second purpose." in as_viewer.get(page_of(first)).content.decode()

    old = as_viewer.get(reverse("rubric_version", args=[project.slug, "own", 1])).content.decode()
    assert "The first purpose." in old
    assert "You are reading version 1 of 2." in old
    assert "compare/?a=1&amp;b=2" in old


@pytest.mark.parametrize("number", [0, 3, 2**40, 2**70])
def test_a_version_that_is_not_there_is_404(as_viewer, project, number):
    a_rubric(project)
    assert as_viewer.get(f"/p/{project.slug}/rubrics/own/v/{number}/").status_code == 404


def test_runs_that_used_it_are_told(as_viewer, project):
    first = a_rubric(project)
    finished = a_finished_run(project, first, "FAIL", "7.5")
    Run.objects.filter(pk=finished.pk).update(title="The backups guide")
    second = saved_again(first)
    a_run(project, second, task="Write the <b>guide</b>.")
    page = as_viewer.get(page_of(first)).content.decode()
    assert "The backups guide" in page
    assert "Explain the backups." not in page
    assert "7.5" in page
    assert "Write the &lt;b&gt;guide&lt;/b&gt;" in page
    alone = as_viewer.get(reverse("rubric_version", args=[project.slug, "own", 1])).content.decode()
    assert "The backups guide" in alone
    assert "Write the" not in alone


def test_a_rubric_of_another_project_is_404(as_owner, project, other_project):
    a_rubric(other_project)
    assert as_owner.get(f"/p/{project.slug}/rubrics/own/").status_code == 404
    assert as_owner.get(f"/p/{other_project.slug}/rubrics/own/").status_code == 404


@pytest.mark.parametrize(("person", "offered"), [("as_viewer", False), ("as_editor", True)])
def test_only_editors_are_offered_changes(request, project, person, offered):
    page = request.getfixturevalue(person).get(page_of(a_rubric(project))).content.decode()
    for name in ("rubric_archive", "rubric_duplicate"):
        assert (reverse(name, args=[project.slug, "own"]) in page) is offered


def hostile_pages(project):
    version = rubric_create(project=project, slug="own", definition=hostile_definition())
    version_create(
        rubric=version.rubric, definition=hostile_definition(f"{hostile_definition().purpose} <i>more</i>")
    )
    version_create(
        rubric=version.rubric, definition=replace(rubric_for("ralph"), name="x"), note="<u>note</u>"
    )
    a_run(project, version, task="<script>task</script>")
    place = [project.slug, "own"]
    return [
        reverse("rubric_version", args=[*place, 2]),
        reverse("rubric_versions", args=place),
        reverse("rubric_compare", args=place) + "?a=1&b=2",
        reverse("rubric_compare", args=place) + "?a=2&b=3",
        reverse("rubric_compare", args=place) + "?a=3&b=1",
        reverse("rubric_list", args=[project.slug]) + "?q=%3Cscript%3E",
    ]


def test_markup_in_any_field_is_shown_as_text_everywhere(as_editor, project):
    for address in hostile_pages(project):
        page = as_editor.get(address).content.decode()
        assert "<script>alert" not in page, address
        assert "<img src=x" not in page, address
        for raw in ("<i>more", "<u>note", "<script>task", "<script>&quot;", '="<script>'):
            assert raw not in page, address


def test_marks_that_turn_the_direction_stay_inside_their_own_place(as_editor, project):
    [overview, *_] = hostile_pages(project)
    page = as_editor.get(overview).content.decode()
    assert page.count(BACKWARDS.split()[0]) > 8
    for before in page.split("\u202e")[:-1]:
        tag = before.rsplit("<", 1)[1]
        # In an attribute, or as the text of an element that keeps its direction to itself.
        assert ">" not in tag or tag.startswith(("bdi>", "title>")) or 'dir="auto"' in tag, tag


def test_a_megabyte_of_purpose_is_readable_and_not_cut(as_editor, project):
    definition = hostile_definition("word <b> " * 120_000)
    version = rubric_create(project=project, slug="own", definition=definition)
    page = as_editor.get(page_of(version)).content.decode()
    assert "Show all 1,080,000 characters" in page
    assert page.count("word &lt;b&gt;") >= 120_000


def test_the_number_of_queries_does_not_grow(as_owner, project):
    version = a_rubric(project, "ralph")
    a_finished_run(project, version)

    def queries():
        with CaptureQueriesContext(connection) as captured:
            assert as_owner.get(page_of(version)).status_code == 200
        return len(captured)

    queries()
    small = queries()
    criteria = tuple(Criterion(f"c{number}", f"Criterion {number}") for number in range(30))
    checks = tuple(Check(f"k{number}", "contains", {"text": "x"}) for number in range(50))
    for _ in range(12):
        a_finished_run(project, saved_again(version, criteria=criteria, checks=checks))

    assert queries() == small
