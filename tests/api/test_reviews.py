"""Reviews and rules by the API."""

from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.models import ReviewRequest, ReviewRule
from refinement.services.reviews.requests import reviews_ask
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
ROOT = "/projects/alpha"


@pytest.fixture
def run(project):
    return finished_run(project)


def test_people_are_asked_and_the_queue_is_worked_through(api_editor, api_viewer, run, viewer, editor):
    soon = (timezone.localdate() + timedelta(days=2)).isoformat()
    later = finished_run(run.project)
    api_editor.post(f"{ROOT}/runs/{later.pk}/reviews", {"reviewers": [viewer.pk]})
    made = api_editor.post(
        f"{ROOT}/runs/{run.pk}/reviews",
        {"reviewers": [viewer.pk, editor.pk], "note": "Look.", "due_on": soon},
    )
    assert made.status_code == 201
    assert [entry["reviewer"] for entry in made.json()["asked"]] == [viewer.pk, editor.pk]
    again = api_editor.post(f"{ROOT}/runs/{run.pk}/reviews", {"reviewers": [viewer.pk]})
    assert again.json()["asked"] == []

    queue = api_viewer.get(f"{ROOT}/reviews/queue").json()
    assert ([entry["run"] for entry in queue["items"]], queue["count"]) == ([run.pk, later.pk], 2)
    assert (queue["items"][0]["asked_by"], queue["items"][0]["due_on"]) == ("Edgar Editor", soon)
    assert api_viewer.post(f"{ROOT}/runs/{run.pk}/reviews/done").status_code == 204
    assert api_viewer.post(f"{ROOT}/runs/{run.pk}/reviews/done").status_code == 409
    found = api_viewer.get(f"{ROOT}/reviews", {"open": "false", "mine": "true"}).json()["items"]
    assert [entry["run"] for entry in found] == [run.pk]


def test_who_asked_takes_it_back_and_others_do_not(api_editor, api_viewer, run, editor, viewer, owner):
    (row,) = reviews_ask(run=run, reviewers=[owner], user=editor)
    assert api_viewer.post(f"{ROOT}/reviews/{row.pk}/take-back").status_code == 403
    assert api_editor.post(f"{ROOT}/reviews/{row.pk}/take-back").status_code == 204
    assert api_editor.post(f"{ROOT}/reviews/{row.pk}/take-back").status_code == 409
    assert ReviewRequest.objects.get().taken_back


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"reviewers": []}, "body.reviewers"),
        ({"reviewers": [999_999]}, "body.reviewers"),
        ({"reviewers": [1], "due_on": "2020-01-01"}, "body.due_on"),
        ({"reviewers": [1], "note": "x" * 1001}, "body.note"),
    ],
)
def test_what_cannot_be_asked_is_said(api_editor, run, viewer, body, where):
    named = {**body, "reviewers": [viewer.pk if number == 1 else number for number in body["reviewers"]]}
    answer = api_editor.post(f"{ROOT}/runs/{run.pk}/reviews", named)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == where


def test_an_outsider_cannot_be_asked(api_editor, run, outsider):
    answer = api_editor.post(f"{ROOT}/runs/{run.pk}/reviews", {"reviewers": [outsider.pk]})
    assert answer.status_code == 422


def test_rules_are_made_listed_and_ended(api_editor, api_viewer, run, viewer):
    body = {"kind": "failed", "rubric": run.rubric.slug, "reviewers": [viewer.pk], "due_days": 3}
    made = api_editor.post(f"{ROOT}/review-rules", body, Idempotency_Key="r")
    assert api_editor.post(f"{ROOT}/review-rules", body, Idempotency_Key="r").json() == made.json()
    (rule,) = api_viewer.get(f"{ROOT}/review-rules").json()["items"]
    assert rule == made.json()
    assert (rule["rubric"], rule["reviewers"]) == (run.rubric.slug, [viewer.pk])
    assert api_editor.post(f"{ROOT}/review-rules/{rule['id']}/end").status_code == 204
    assert api_editor.post(f"{ROOT}/review-rules/{rule['id']}/end").status_code == 409
    assert ReviewRule.objects.get().ended_at
    bad = api_editor.post(f"{ROOT}/review-rules", body | {"rubric": "none"})
    assert bad.json()["errors"][0]["where"] == "body.rubric"
