"""Requesting reviews of one run or of many from the list, and cancelling a request."""

from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.models import Notice, ReviewRequest, Run
from refinement.services.reviews.requests import reviews_ask
from tests.conftest import member, signed_in
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
ASK = "/p/alpha/reviews/ask/"


@pytest.fixture
def runs(project) -> list[Run]:
    return [finished_run(project) for _ in range(2)]


def test_the_page_offers_members_who_can_sign_in(as_editor, editor, viewer, outsider, project, runs):
    closed = member(project, "viewer", "clara@example.org", "Clara Closed")
    closed.is_active = False
    closed.save(update_fields=["is_active"])
    text = as_editor.get(f"{ASK}?run={runs[0].pk}").content.decode()
    assert "Vera Viewer" in text
    assert "Edgar Editor (you)" in text
    assert "Clara Closed" not in text
    assert "Otto Outsider" not in text


def test_one_run_is_asked_about_and_the_person_is_told(as_editor, editor, viewer, runs):
    due = timezone.localdate() + timedelta(days=3)
    values = {"reviewers": [viewer.pk], "due_on": f"{due}", "note": "Look at depth."}
    answer = as_editor.post(f"{ASK}?run={runs[0].pk}", values, follow=True)
    assert answer.redirect_chain == [(f"/p/alpha/runs/{runs[0].pk}/", 302)]
    request = ReviewRequest.objects.get()
    assert (request.run, request.reviewer, request.asked_by) == (runs[0], viewer, editor)
    assert (request.due_on, request.note) == (due, "Look at depth.")
    text = answer.content.decode()
    assert "1 review requested from 1 person." in text
    assert "Look at depth." in text
    notice = Notice.objects.get()
    assert (notice.user, notice.run, notice.kind) == (viewer, runs[0], "review")


def test_the_list_leads_there_with_the_ticked_runs(as_editor, as_viewer, viewer, owner, runs):
    numbers = [run.pk for run in runs]
    bulk = as_editor.post("/p/alpha/runs/bulk/", {"action": "review", "run": numbers})
    assert bulk.headers["Location"] == f"{ASK}?run={numbers[0]}&run={numbers[1]}"
    values = {"reviewers": [viewer.pk, owner.pk]}
    answer = as_editor.post(bulk.headers["Location"], values, follow=True)
    assert "4 reviews requested from 2 people." in answer.content.decode()
    assert ReviewRequest.objects.count() == 4
    again = as_editor.post(bulk.headers["Location"], values, follow=True)
    assert "Everyone you chose already has a request" in again.content.decode()
    assert ReviewRequest.objects.count() == 4
    assert as_viewer.post("/p/alpha/runs/bulk/", {"action": "review", "run": numbers}).status_code == 403


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"reviewers": []}, "Choose reviewers."),
        ({"due_on": "soon"}, "Enter a date such as 2026-03-31."),
        ({"due_on": "2001-01-01"}, "This date is in the past. Choose today or later."),
        ({"note": "n" * 1_001}, "The note is longer than 1,000 characters."),
        ({"reviewers": ["99999"]}, "One of these people is no longer a member. Choose again."),
        ({"reviewers": ["x" * 30]}, "One of these people is no longer a member. Choose again."),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_the_rest_stays(as_editor, viewer, runs, values, words):
    given = {"reviewers": [viewer.pk], "note": "kept-note", **values}
    answer = as_editor.post(f"{ASK}?run={runs[0].pk}&run={runs[1].pk}", given)
    text = answer.content.decode()
    assert answer.status_code == 422
    assert words in text
    if "note" not in values:
        assert "kept-note" in text
    assert not ReviewRequest.objects.exists()


@pytest.mark.parametrize("query", ["", "?run=", "?run=abc", "?run=999999", "?run=" + "9" * 40])
def test_without_a_run_it_says_where_to_choose_one(as_editor, runs, query):
    answer = as_editor.get(f"{ASK}{query}", follow=True)
    assert answer.redirect_chain == [("/p/alpha/runs/", 302)]
    assert "No runs selected." in answer.content.decode()


def test_runs_of_other_projects_are_not_asked_about(as_outsider, outsider, runs, other_project):
    answer = as_outsider.post(
        f"/p/beta/reviews/ask/?run={runs[0].pk}", {"reviewers": [outsider.pk]}, follow=True
    )
    assert "No runs selected." in answer.content.decode()
    assert not ReviewRequest.objects.exists()


def test_the_asker_takes_back_and_another_editor_is_told_who_may(as_editor, editor, viewer, project, runs):
    (request,) = reviews_ask(run=runs[0], reviewers=[viewer], user=editor)
    back = f"/p/alpha/reviews/{request.pk}/back/"
    other = signed_in(member(project, "editor", "erna@example.org", "Erna"))
    refused = other.post(back, follow=True)
    assert "Only Edgar Editor or a project owner can cancel this request." in (refused.content.decode())
    answer = as_editor.post(back, {"run": runs[0].pk}, follow=True)
    assert answer.redirect_chain == [(f"/p/alpha/runs/{runs[0].pk}/", 302)]
    assert "Request cancelled." in answer.content.decode()
    assert "was already closed" in as_editor.post(back, follow=True).content.decode()


def test_a_request_of_another_project_is_not_found(as_outsider, editor, viewer, runs, other_project):
    (request,) = reviews_ask(run=runs[0], reviewers=[viewer], user=editor)
    assert as_outsider.post(f"/p/beta/reviews/{request.pk}/back/").status_code == 404
