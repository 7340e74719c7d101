"""Feedback in the API: read and corrected, also by two people; and the blame view."""

import pytest

from refinement.models import FeedbackCorrection
from tests.views.runs.guide import guide_run
from tests.views.runs.staged import ollama_server, stage

__all__ = ["ollama_server", "stage"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def run(stage):
    return guide_run(stage)


def address(run, rest="feedback"):
    return f"/api/v1/projects/{run.project.slug}/runs/{run.pk}/{rest}"


def put(client, run, **body):
    body = {"round": 1, "kind": "issue", "position": 0, "fate": "open", **body}
    return client.put(address(run), body, content_type="application/json")


def items(client, run):
    answer = client.get(address(run))
    assert answer.status_code == 200
    return {(item["round"], item["kind"], item["position"]): item for item in answer.json()["items"]}


def test_it_says_what_became_of_each_item_and_why(as_viewer, run):
    found = items(as_viewer, run)
    first = found[1, "issue", 0]
    assert first["text"] == "The port on which the service listens is missing."
    assert (first["fate"], first["revision"], first["raised"], first["corrected_by"]) == (
        "addressed",
        2,
        True,
        "",
    )
    assert "Round 2 changed its passage" in first["why"]
    assert {item["kind"] for item in found.values()} == {"issue"}  # the rest was not sent to the writer
    assert {item["round"] for item in found.values()} == {1, 2}


def test_a_correction_replaces_it_and_is_taken_back(as_editor, editor, run):
    answer = put(as_editor, run)
    assert answer.status_code == 200
    told = answer.json()
    assert (told["fate"], told["computed"], told["corrected_by"]) == (
        "open",
        "addressed",
        editor.display_name,
    )
    back = put(as_editor, run, fate=None, version=told["version"])
    assert (back.json()["fate"], back.json()["corrected_by"]) == ("addressed", "")
    assert not FeedbackCorrection.objects.exists()


def test_two_people_at_once(as_editor, as_owner, run):
    put(as_editor, run)
    answer = put(as_owner, run, fate="worse")
    assert (answer.status_code, answer.json()["code"]) == (409, "corrected_meanwhile")
    assert items(as_owner, run)[1, "issue", 0]["fate"] == "open"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"position": 77}, 404),
        ({"round": 3}, 404),
        ({"kind": "check"}, 422),
        ({"fate": "lovely"}, 422),
        ({"round": 0}, 422),
    ],
)
def test_what_is_refused(as_editor, run, body, status):
    assert put(as_editor, run, **body).status_code == status


def test_who_may(as_viewer, as_outsider, client, run):
    assert put(as_viewer, run).status_code == 403
    assert put(as_outsider, run).status_code == 404
    assert put(client, run).status_code == 401
    assert as_outsider.get(address(run)).status_code == 404


def test_blame(as_viewer, run):
    answer = as_viewer.get(address(run, "rounds/3/blame"))
    told = answer.json()
    assert "".join(passage["text"] for passage in told["passages"]) == run.rounds.get(number=3).candidate
    assert {passage["round"] for passage in told["passages"]} == {1, 2, 3}
    asked = {passage["asked_by"]: passage["asked"] for passage in told["passages"] if passage["asked_by"]}
    assert asked["issue 1 of round 1"] == "The port on which the service listens is missing."
    assert (told["cut"], told["missing"]) == (False, 0)
    assert as_viewer.get(address(run, "rounds/9/blame")).status_code == 404


def test_it_is_in_the_exports(as_viewer, as_editor, editor, run):
    put(as_editor, run, fate="worse")
    page = f"/p/{run.project.slug}/runs/{run.pk}/export"
    document = b"".join(as_viewer.get(f"{page}/json/").streaming_content).decode()
    assert '"kind": "issue", "position": 0, "fate": "worse"' in document
    assert f'"corrected_by": "{editor.display_name}"' in document
    report = b"".join(as_viewer.get(f"{page}/md/").streaming_content).decode()
    assert "Feedback and its results:" in report
    assert f"| Issue 1 | made worse | Corrected by {editor.display_name}. |" in report
