"""The test bench by the API."""

import pytest

from refinement.execution.trials.advancing import trial_advance
from refinement.models import Bench, BlindReading, RubricVersion
from refinement.services.rubrics.editing import default_rubrics_install
from tests.execution.lifecycle.conftest import scene
from tests.loopback.fixtures import ollama_server
from tests.views.runs.finished import finished_run

__all__ = ["ollama_server", "scene"]
pytestmark = pytest.mark.django_db
ROOT = "/projects/alpha/rubrics/wiggum/benches"
NEW = {"candidate": "A text.", "judge": "ollama/loopback:8b", "repeats": 2}


@pytest.fixture(autouse=True)
def rubrics(project):
    default_rubrics_install(project=project)


def test_a_bench_is_started_and_read(api_editor, api_viewer, scene):
    scene.says(7, 8)
    made = api_editor.post(ROOT, NEW, Idempotency_Key="b")
    assert made.status_code == 201
    assert api_editor.post(ROOT, NEW, Idempotency_Key="b").json() == made.json()
    bench = Bench.objects.get()
    here = f"{ROOT}/{bench.pk}"
    assert made.headers["Location"] == f"/api/v1{here}"
    for trial in bench.trials.all():
        trial_advance(trial.pk)

    read = api_viewer.get(here).json()
    assert (read["status"], [trial["composite"] for trial in read["trials"]]) == ("finished", ["7", "8"])
    assert read["trials"][0]["said"][0]["reasoning"] == "It names the steps."
    (call,) = api_viewer.get(f"{here}/trials/1/calls").json()["items"]
    assert "A text." in str(call["messages"])
    assert api_viewer.get(f"{here}/trials/9/calls").status_code == 404
    assert api_editor.post(f"{here}/cancel").status_code == 409

    scored = api_editor.put(f"{here}/scores", {"scores": {"depth": "6.5"}})
    assert scored.json()["human_scores"] == {"depth": "6.5"}
    bad = api_editor.put(f"{here}/scores", {"scores": {"depth": "11"}})
    assert bad.json()["errors"][0]["where"] == "body.scores.depth"


def test_a_round_is_judged_again_unless_it_is_read_blind(api_editor, editor, project):
    run = finished_run(project)
    body = NEW | {"source": "round", "run": run.pk, "round": 2}
    made = api_editor.post(ROOT, body).json()
    assert (made["candidate"], made["task"]) == (run.rounds.get(number=2).candidate, run.task)
    assert api_editor.post(f"{ROOT}/{made['id']}/cancel").json()["status"] == "cancelled"

    BlindReading.objects.create(run=run, reader=editor, round_number=1)
    assert api_editor.post(ROOT, body).status_code == 422
    assert api_editor.get(f"{ROOT}/{made['id']}").status_code == 404
    assert api_editor.get(ROOT).json()["items"] == []


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"candidate": " "}, "body.candidate"),
        ({"judge": "nowhere"}, "body.judge"),
        ({"repeats": 11}, "body.repeats"),
        ({"temperature": "0.123"}, "body.temperature"),
        ({"source": "calibration"}, "body.source"),
        ({"source": "round"}, "body.round"),
        ({"anchored": True}, "body.anchored"),
    ],
)
def test_what_cannot_be_tried_is_said(api_editor, change, where):
    answer = api_editor.post(ROOT, NEW | change)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == where
    assert not Bench.objects.exists()


def test_a_version_that_there_is_not_and_a_rubric_that_is_put_away(api_editor, project):
    assert api_editor.post(ROOT, NEW | {"version": 9}).status_code == 404
    rubric = RubricVersion.objects.get(rubric__project=project, rubric__slug="wiggum").rubric
    rubric.archived_at = rubric.created_at
    rubric.save(update_fields=["archived_at"])
    assert api_editor.post(ROOT, NEW).status_code == 409
