"""Threads and comments by the API."""

import pytest

from refinement.models import Comment, Notice
from tests.api.conftest import api_client
from tests.views.comments.given import answer, say, talked_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project):
    return talked_run(project)


@pytest.fixture
def threads(run):
    return f"/projects/alpha/runs/{run.pk}/threads"


def test_a_thread_is_opened_answered_resolved_and_opened_again(api_viewer, api_editor, threads, viewer):
    made = api_editor.post(threads, {"place": "round", "round": 2, "body": "Look, @Vera Viewer."})
    thread = made.json()
    assert made.status_code == 201
    assert (thread["place"], thread["round"], thread["comments"]) == ("round", 2, 1)
    assert (thread["first"]["author"], thread["first"]["mentioned"]) == ("Edgar Editor", ["Vera Viewer"])
    assert Notice.objects.get().user == viewer
    here = f"{threads}/{thread['id']}"
    assert made.headers["Location"] == f"/api/v1{here}"

    said = api_viewer.post(f"{here}/comments", {"body": "I do."})
    assert said.status_code == 201
    bodies = [entry["body"] for entry in api_viewer.get(f"{here}/comments").json()["items"]]
    assert bodies == ["Look, @Vera Viewer.", "I do."]

    assert api_viewer.post(f"{here}/resolve").json()["resolved_by"] == "Vera Viewer"
    again = api_editor.post(f"{here}/resolve")
    assert (again.status_code, again.json()["code"]) == (409, "overtaken")
    assert "Vera Viewer has already resolved" in again.json()["detail"]
    assert api_viewer.get(threads, {"resolved": "false"}).json()["items"] == []
    assert api_editor.post(f"{here}/reopen").json()["resolved_at"] is None
    assert len(api_viewer.get(threads, {"resolved": "false", "round": "2"}).json()["items"]) == 1


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"body": " "}, "body.body"),
        ({"body": "x" * 20_001}, "body.body"),
        ({"place": "round", "round": 9, "body": "Why?"}, "body.round"),
        ({"place": "criterion", "round": 1, "criterion": "none", "body": "Why?"}, "body.criterion"),
        ({"place": "issue", "round": 1, "issue": 9, "body": "Why?"}, "body.issue"),
        ({"place": "passage", "round": 1, "quote": "never written", "body": "Why?"}, "body.quote"),
        ({"place": "elsewhere", "body": "Why?"}, "body.place"),
    ],
)
def test_what_cannot_be_is_said_by_its_field(api_viewer, threads, body, where):
    answer = api_viewer.post(threads, body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == where
    assert not Comment.objects.exists()


def test_a_passage_is_kept_in_the_words_of_the_text(api_viewer, threads):
    body = {"place": "passage", "round": 1, "quote": "reads its settings", "body": "From where?"}
    assert api_viewer.post(threads, body).json()["quote"] == "reads its settings"


def test_the_same_request_sent_twice_says_it_once(api_viewer, threads):
    one, two = (api_viewer.post(threads, {"body": "Once."}, Idempotency_Key="k") for _ in range(2))
    assert one.json() == two.json()
    assert two.headers["Idempotency-Replayed"] == "true"
    assert Comment.objects.count() == 1


def test_one_changes_ones_own_words_on_top_of_those_one_read(api_viewer, api_editor, run, viewer):
    comment = say(run, viewer, "Why?")
    here = f"/projects/alpha/runs/{run.pk}/comments/{comment.pk}"
    tag = api_viewer.get(here).headers["ETag"]

    assert api_viewer.patch(here, {"body": "How?"}).status_code == 428
    done = api_viewer.patch(here, {"body": "How?"}, If_Match=tag)
    assert (done.json()["body"], done.json()["version"]) == ("How?", 2)
    assert api_viewer.patch(here, {"body": "When?"}, If_Match=tag).status_code == 412
    assert api_editor.patch(here, {"body": "Mine."}, If_Match=done.headers["ETag"]).status_code == 403
    assert [e["body"] for e in api_editor.get(f"{here}/history").json()["items"]] == ["Why?"]


def test_of_a_deleted_comment_only_its_place_is_left(api_viewer, api_owner, api_editor, run, viewer):
    comment = say(run, viewer, "Wrong.")
    answer(comment, viewer, "Right.")
    here = f"/projects/alpha/runs/{run.pk}/comments/{comment.pk}"

    assert api_editor.delete(here).status_code == 403
    assert api_owner.delete(here).status_code == 204
    left = api_viewer.get(here).json()
    assert (left["author"], left["body"]) == (None, "")
    assert api_editor.get(f"{here}/history").status_code == 404
    assert api_owner.get(f"{here}/history").json()["items"][0]["body"] == "Wrong."
    assert api_owner.delete(here).status_code == 409


def test_a_token_with_a_lower_role_deletes_no_words_of_others(owner, project, run, viewer):
    comment = say(run, viewer)
    script = api_client(owner, project, "editor")
    assert script.delete(f"/projects/alpha/runs/{run.pk}/comments/{comment.pk}").status_code == 403


def test_of_another_run_nothing_is_found(api_viewer, project, run, viewer):
    comment = say(talked_run(project), viewer)
    here = f"/projects/alpha/runs/{run.pk}"
    assert api_viewer.get(f"{here}/comments/{comment.pk}").status_code == 404
    assert api_viewer.get(f"{here}/threads/{comment.thread_id}").status_code == 404
    assert api_viewer.get(f"{here}/threads/{10**25}").status_code == 404
