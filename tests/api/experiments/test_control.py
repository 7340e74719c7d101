"""Experiments by the API: launch once, estimate, follow, control."""

import pytest

from refinement.models import Experiment, Run
from refinement.services.rubrics.editing import default_rubrics_install
from tests.services.experiments.given import an_experiment, dealt, end, going
from tests.services.suites.given import a_suite, a_task

pytestmark = pytest.mark.django_db
ROOT = "/projects/alpha/experiments"
CONFIGURATION = {
    "name": "A",
    "rubric": "wiggum",
    "producer": "ollama/loopback:1b",
    "judge": "ollama/loopback:8b",
    "set": {"policy.max_rounds": 2, "policy.stop_rules": ["passed", "max_rounds"]},
}
NEW = {
    "name": "Judges in March",
    "suite": "how-to@1",
    "configurations": [CONFIGURATION, {**CONFIGURATION, "name": "B", "set": {}, "baseline": True}],
    "repeats": 2,
    "token_budget": 50_000,
}


@pytest.fixture(autouse=True)
def suite(project):
    default_rubrics_install(project=project)
    return a_suite(project, a_task("restore", seed="# Text"), a_task("rotate"), name="How-to")


def test_is_launched_once_and_read(api_editor, api_viewer):
    made = api_editor.post(ROOT, NEW, Idempotency_Key="march")
    assert made.status_code == 201, made.content
    assert api_editor.post(ROOT, NEW, Idempotency_Key="march").json() == made.json()
    experiment = Experiment.objects.get()
    assert made.headers["Location"] == f"/api/v1{ROOT}/{experiment.pk}"
    read = api_viewer.get(f"{ROOT}/{experiment.pk}").json()
    assert (read["suite"], read["runs"], read["states"]) == ("how-to@1", 8, {"waiting": 8})
    first, second = read["configurations"]
    assert (first["letter"], first["rubric"], first["baseline"]) == ("A", "wiggum@1", False)
    assert first["set"] == {"policy.max_rounds": "2", "policy.stop_rules": "passed,max_rounds"}
    assert (second["name"], second["baseline"]) == ("B", True)
    (line,) = api_viewer.get(ROOT, {"suite": "how-to", "status": "running"}).json()["items"]
    assert (line["id"], line["created_by"]) == (experiment.pk, "Edgar Editor")
    assert api_viewer.get(ROOT, {"suite": "other"}).json()["items"] == []


def test_is_estimated_without_launching_anything(api_editor):
    found = api_editor.post(f"{ROOT}/estimate", NEW).json()
    assert found["runs"] == 8
    assert found["calls"]["low"] < found["calls"]["high"]
    assert found["over_budget"] is (found["tokens"]["high"] > 50_000)
    assert [part["name"] for part in found["configurations"]] == ["A", "B"]
    assert found["seconds"] is None  # these models have not been used yet
    assert not Experiment.objects.exists()


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"suite": "nothing"}, "body.suite"),
        ({"suite": "how-to@7"}, "body.suite"),
        ({"configurations": []}, "body.configurations"),
        ({"repeats": 21}, "body.repeats"),
        ({"token_budget": 0}, "body.token_budget"),
        ({"name": " "}, "body.name"),
        ({"configurations": [{**CONFIGURATION, "rubric": "nothing"}]}, "body.rubric"),
        ({"configurations": [{**CONFIGURATION, "judge": "nothing"}]}, "body.judge"),
        ({"configurations": [{**CONFIGURATION, "set": {"policy.nothing": 1}}]}, "body.configurations"),
    ],
)
def test_says_what_is_wrong(api_editor, changes, where):
    answer = api_editor.post(ROOT, {**NEW, **changes})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == where


def test_is_controlled(api_editor, api_viewer, project, monkeypatch):
    experiment = an_experiment(project)
    here = f"{ROOT}/{experiment.pk}"
    dealt(experiment, 2, monkeypatch)
    assert api_editor.post(f"{here}/pause").json()["status"] == "paused"
    assert api_editor.post(f"{here}/pause").status_code == 409
    assert api_editor.post(f"{here}/resume", {"token_budget": 9_000}).json()["token_budget"] == 9_000
    failed, passed = going(experiment)
    end(failed, "ERROR", None, failure_role="producer", failure_message="No reply.")
    end(passed, "PASS", "8")
    runs = api_viewer.get(f"{here}/runs").json()["items"]
    assert [run["state"] for run in runs].count("waiting") == 2
    (found,) = api_viewer.get(f"{here}/runs", {"state": "done"}).json()["items"]
    assert (found["run"], found["r1"], found["passed"]) == (passed.pk, "8", True)
    assert api_editor.post(f"{here}/run-missing").json()["started"] == 1
    assert len(api_viewer.get(f"{here}/runs", {"replaced": "true"}).json()["items"]) == 5
    stopped = api_editor.post(f"{here}/cancel").json()
    assert stopped["states"] == {"done": 1, "waiting": 3}
    assert api_editor.put(f"{here}/budget", {"token_budget": None}).json()["token_budget"] is None
    baseline = experiment.configurations.get(name="B")
    answer = api_editor.put(f"{here}/baseline", {"configuration": baseline.pk}).json()
    assert [each["baseline"] for each in answer["configurations"]] == [False, True]


def test_a_configuration_is_added_once(api_editor, project):
    experiment = an_experiment(project)
    here = f"{ROOT}/{experiment.pk}/configurations"
    added = {**CONFIGURATION, "name": "C"}
    assert api_editor.post(here, added, Idempotency_Key="c").json()["letter"] == "C"
    assert api_editor.post(here, added, Idempotency_Key="c").json()["letter"] == "C"
    assert experiment.configurations.count() == 3
    assert api_editor.post(here, added).status_code == 422


def test_belongs_to_its_project(api_outsider, api_editor, project, other_project):
    experiment = an_experiment(project)
    assert api_outsider.get(f"{ROOT}/{experiment.pk}").status_code == 404
    assert api_outsider.get(f"/projects/beta/experiments/{experiment.pk}").status_code == 404
    other = an_experiment(other_project).configurations.first()
    answer = api_editor.put(f"{ROOT}/{experiment.pk}/baseline", {"configuration": other.pk})
    assert answer.status_code == 404
    assert not Run.objects.exists()
