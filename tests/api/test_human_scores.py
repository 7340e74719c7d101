"""Scoring by the API, open and blind; responses to a blind reader contain no scores."""

import json

import pytest

from refinement.engine.profiles import rubric_for
from refinement.models import BlindReading, HumanScore, ReviewRequest
from refinement.services.reviews.requests import reviews_ask
from refinement.services.webhooks.hooks import HookValues, webhook_create
from tests.api.conftest import api_client
from tests.api.test_role_matrix import operations
from tests.views.comments.given import say
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
KEYS = [criterion.key for criterion in rubric_for("wiggum").criteria]
JUDGED = ("7.1537", "8.6431", "8.3219")  # no other figure looks like these


@pytest.fixture
def run(project):
    return finished_run(project, JUDGED)


@pytest.fixture
def here(run):
    return f"/projects/alpha/runs/{run.pk}"


def said(score="7.5", **more):
    return {"scores": [{"criterion": key, "score": score, "reason": "So."} for key in KEYS], **more}


def test_a_score_is_given_read_and_changed_by_its_version(api_viewer, api_editor, here):
    mine = f"{here}/rounds/2/scores/mine"
    assert api_viewer.get(mine).status_code == 404
    first = api_viewer.put(mine, said(note="Good."))
    assert (first.status_code, first.json()["composite"], first.json()["blind"]) == (200, "7.5", False)

    assert api_viewer.put(mine, said("8")).status_code == 428
    changed = api_viewer.put(mine, said("8"), If_Match=first.headers["ETag"])
    assert (changed.json()["version"], changed.json()["composite"]) == (2, "8")
    assert api_viewer.put(mine, said("9"), If_Match=first.headers["ETag"]).status_code == 412

    listed = api_editor.get(f"{here}/rounds/2/scores").json()["items"]
    assert [(entry["author"], entry["mine"]) for entry in listed] == [("Vera Viewer", False)]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"scores": []}, f"body.scores.{KEYS[0]}"),
        (said("11"), f"body.scores.{KEYS[0]}"),
        (said("NaN"), "body.scores.0.score"),
        ({"scores": [{"criterion": "none", "score": "7"}]}, "body.scores.none"),
        ({"scores": said()["scores"] * 2}, f"body.scores.{KEYS[0]}"),
        (said(note="x" * 4_001), "body.note"),
    ],
)
def test_what_cannot_be_scored_is_said_by_its_criterion(api_viewer, here, body, where):
    answer = api_viewer.put(f"{here}/rounds/1/scores/mine", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == where
    assert not HumanScore.objects.exists()


def test_a_blind_reading_from_beginning_to_end(api_viewer, here, viewer, run, editor):
    reviews_ask(run=run, reviewers=[viewer], user=editor)
    begun = api_viewer.put(f"{here}/blind-reading", {"round": 1})
    assert begun.status_code == 200
    assert begun.json()["rounds"] == [1, 2, 3]
    assert [entry["key"] for entry in begun.json()["criteria"]] == KEYS
    assert api_viewer.get(f"{here}/blind-reading").json() == begun.json()
    refused = api_viewer.get(f"{here}/rounds/1/scores")
    assert (refused.status_code, refused.json()["code"]) == (403, "reads_blind")

    on = api_viewer.put(f"{here}/rounds/1/scores/mine", said(go_on_at=2))
    assert on.json()["blind"] is True
    assert api_viewer.get(f"{here}/blind-reading").json()["round"] == 2
    assert api_viewer.put(f"{here}/rounds/2/scores/mine", said()).json()["blind"] is True
    assert api_viewer.get(f"{here}/blind-reading").status_code == 404
    assert api_viewer.get(f"{here}/rounds/1/scores").status_code == 200
    assert not ReviewRequest.objects.filter(closed_at=None).exists()
    seen = api_viewer.put(f"{here}/blind-reading", {"round": 3})
    assert (seen.status_code, seen.json()["code"]) == (409, "scores_seen")


def test_where_a_project_scores_blind_one_begins_with_that(api_viewer, here, project):
    project.blind_scores = True
    project.save(update_fields=["blind_scores"])
    answer = api_viewer.put(f"{here}/rounds/1/scores/mine", said())
    assert (answer.status_code, answer.json()["code"]) == (409, "blind_first")
    api_viewer.put(f"{here}/blind-reading", {"round": 1})
    assert api_viewer.put(f"{here}/rounds/1/scores/mine", said()).status_code == 200


def test_who_gives_it_up_sees_and_scores_openly(api_viewer, here):
    api_viewer.put(f"{here}/blind-reading", {"round": 1})
    assert api_viewer.delete(f"{here}/blind-reading").status_code == 204
    assert api_viewer.delete(f"{here}/blind-reading").status_code == 404
    assert api_viewer.put(f"{here}/rounds/1/scores/mine", said()).json()["blind"] is False


def test_no_operation_tells_a_blind_reader_a_score(project, owner, editor, run):
    """Every address that can be read, with the run's numbers in it, byte by byte."""
    hook, _ = webhook_create(
        project=project, by=owner, values=HookValues("https://hooks.example.org/", ["comment.created"])
    )
    comment = say(run, editor, "The judge gave 8.6431!")
    api_client(editor, project, "editor").put(
        f"/projects/alpha/runs/{run.pk}/rounds/1/scores/mine", said("6.789")
    )
    BlindReading.objects.create(run=run, reader=owner, round_number=1)
    values = {
        "slug": "alpha",
        "run": run.pk,
        "number": 1,
        "thread": comment.thread_id,
        "comment": comment.pk,
        "rubric": run.rubric.slug,
        "person": owner.pk,
        "webhook": hook.pk,
        "delivery": hook.deliveries.get().pk,
        "call": run.calls.first().pk,
        "form": "json",
    }
    script, asked = api_client(owner, project, "owner"), 0
    for name, (method, address, _) in operations().items():
        if method != "GET" or name == "event_stream":
            continue
        path = address
        for parameter, value in values.items():
            path = path.replace("{" + parameter + "}", str(value))
        answer = script.get(path)
        bytes_ = b"".join(answer) if answer.streaming else answer.content
        leaked = [figure for figure in (*JUDGED, "6.789", "FAIL") if figure.encode() in bytes_]
        assert leaked == [], f"{name}: {path}"
        asked += answer.status_code == 200
    assert asked > 8


def test_the_run_is_told_to_everybody_else(api_viewer, run, here, editor):
    say(run, editor, "The judge gave 8.6431!")
    thread = run.threads.get().pk
    assert "8.6431" in json.dumps(api_viewer.get(f"{here}/threads/{thread}/comments").json())
