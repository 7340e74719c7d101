"""The page of review rules: editors create and end them, everybody can read them."""

import pytest

from refinement.models import ReviewRule, Rubric
from refinement.services.reviews.rules import MOST_RULES
from refinement.services.rubrics.editing import default_rubrics_install

pytestmark = pytest.mark.django_db
RULES = "/p/alpha/reviews/rules/"


@pytest.fixture(autouse=True)
def rubric(project) -> Rubric:
    default_rubrics_install(project=project)
    return Rubric.objects.get(project=project, slug="wiggum")


def test_an_editor_makes_a_rule_and_everybody_reads_it(as_editor, as_viewer, editor, viewer, rubric):
    values = {"kind": "failed", "rubric": rubric.pk, "due_days": "3", "reviewers": [viewer.pk, editor.pk]}
    answer = as_editor.post(RULES, values, follow=True)
    assert answer.redirect_chain == [(RULES, 302)]
    assert "Rule created." in answer.content.decode()
    rule = ReviewRule.objects.get()
    assert (rule.kind, rule.rubric, rule.due_days, rule.created_by) == ("failed", rubric, 3, editor)
    assert set(rule.reviewers.all()) == {viewer, editor}
    text = as_viewer.get(RULES).content.decode()
    assert f"Every FAIL of {rubric.name}" in text
    assert "due 3 days after the run ends" in text
    assert "New rule" not in text
    assert ">Delete<" not in text
    assert as_viewer.post(RULES, values).status_code == 403


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kind": ""}, "Choose what the rule matches."),
        ({"kind": "failed"}, "Choose the rubric whose FAIL runs should be reviewed."),
        ({"kind": "sample"}, "Enter a percentage from 1 to 100."),
        ({"kind": "sample", "percent": "101"}, "Enter a percentage from 1 to 100."),
        ({"due_days": "-1"}, "0 to 365 days, or leave empty for no due date."),
        ({"rubric": "99999"}, "Rubric not found in this project."),
        ({"reviewers": []}, "Choose reviewers."),
    ],
)
def test_what_makes_no_sense_is_said_beside_its_field(as_editor, viewer, values, words):
    answer = as_editor.post(RULES, {"kind": "signal", "reviewers": [viewer.pk], **values})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not ReviewRule.objects.exists()


def test_there_is_a_limit_and_it_is_said(as_editor, viewer, project):
    for _ in range(MOST_RULES):
        ReviewRule.objects.create(project=project, kind="signal")
    answer = as_editor.post(RULES, {"kind": "signal", "reviewers": [viewer.pk]})
    assert answer.status_code == 422
    assert "A project can have 50 active rules. End one first." in answer.content.decode()


def test_a_rule_is_ended_once(as_editor, project):
    rule = ReviewRule.objects.create(project=project, kind="signal")
    end = f"{RULES}{rule.pk}/end/"
    assert "Rule deleted." in as_editor.post(end, follow=True).content.decode()
    again = as_editor.post(end, follow=True).content.decode()
    assert "was already deleted" in again
    assert "No rules yet." in again


def test_a_rule_of_another_project_is_not_found(as_outsider, project, other_project):
    rule = ReviewRule.objects.create(project=project, kind="signal")
    assert as_outsider.post(f"/p/beta/reviews/rules/{rule.pk}/end/").status_code == 404


def test_reviewers_who_left_are_named_so(as_editor, project, viewer, django_assert_max_num_queries):
    rule = ReviewRule.objects.create(project=project, kind="signal")
    rule.reviewers.add(viewer)
    project.memberships.filter(user=viewer).delete()
    assert "Vera Viewer (left)" in as_editor.get(RULES).content.decode()
