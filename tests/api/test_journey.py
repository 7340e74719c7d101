"""Everything through the API alone: a rubric from the gallery, a run on a model server, its export."""

import json

import pytest

from refinement.models import Run
from refinement.selectors.launch import available_models as offers
from tests.api.conftest import ApiClient, api_client
from tests.execution.lifecycle.given import at_once
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import valid_replies
from tests.stepping import run_step

__all__ = ["ollama_server"]
HERE = "/projects/alpha"


@pytest.fixture
def models(ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    offers.offers.forget()
    ollama_server.replies = valid_replies()
    yield ollama_server
    offers.offers.forget()


def offered(script) -> list[str]:
    """The loopback server's models; a busy machine may need more than one look."""
    for _ in range(20):
        answer = script.get(f"{HERE}/models").json()["items"]
        ours = next(offer for offer in answer if offer["endpoint"] == "ollama")
        if ours["models"]:
            return [model["target"] for model in ours["models"]]
        offers.offers.forget()
    raise AssertionError(f"nothing was offered: {answer}")


@pytest.mark.django_db
def test_from_the_gallery_to_the_export(api_editor, models):
    gallery = api_editor.get(f"{HERE}/rubric-gallery").json()
    start = {"profile": gallery["profiles"][0]["key"], "artifact": gallery["artifacts"][0]["key"]}
    rubric = api_editor.post(f"{HERE}/rubrics", {"name": "House style", **start}).json()
    definition = rubric["definition"]
    definition["policy"]["stop_rules"] = ["max_rounds"]
    tag = api_editor.get(f"{HERE}/rubrics/house-style").headers["ETag"]
    saved = api_editor.put(f"{HERE}/rubrics/house-style", {"definition": definition}, If_Match=tag)
    assert saved.json()["version"] == 2
    producer, judge = offered(api_editor)[:2]

    launch = {"task": "Explain our backups.", "rubric": "house-style", "producer": producer, "judge": judge}
    answer = api_editor.post(f"{HERE}/runs", launch | {"settings": {"rounds": 2}, "tags": ["ci"]})
    run = answer.json()["runs"][0]["id"]
    while run_step(run) is not None:  # what a worker does
        pass

    here = f"{HERE}/runs/{run}"
    read = api_editor.get(here).json()
    assert (read["status"], read["outcome"], read["stop_reason"]) == ("finished", "FAIL", "max_rounds")
    assert read["rounds_judged"] == len(read["trajectory"]) == 2
    found = api_editor.get(f"{HERE}/runs", {"tag": "ci", "status": "finished", "q": "backups"}).json()[
        "items"
    ]
    assert [entry["id"] for entry in found] == [run]
    rounds = api_editor.get(f"{here}/rounds").json()["items"]
    assert [entry["composite"] for entry in rounds] == read["trajectory"]
    kinds = [entry["kind"] for entry in api_editor.get(f"{here}/events").json()["items"]]
    assert kinds[0] == "queued"
    assert kinds[-1] == "stopped"
    calls = api_editor.get(f"{here}/calls").json()["items"]
    assert len(calls) == read["calls_made"] == 4
    decision = {"kind": "approved", "round": read["best_round"], "reason": "Good."}
    assert api_editor.post(f"{here}/decisions", decision).status_code == 201
    exported = json.loads(api_editor.get(f"{here}/export/json").getvalue())
    assert exported["run"]["best_round"] == read["best_round"]
    assert [entry["candidate"] for entry in exported["rounds"]] == [
        api_editor.get(f"{here}/rounds/{number}/candidate").content.decode() for number in (1, 2)
    ]
    assert exported["decisions"][0]["kind"] == "approved"


@pytest.mark.django_db(transaction=True)
def test_two_at_once_under_one_key_have_one_effect(editor, project):
    """With real threads and connections: the second request has to wait, or gets the first one's response."""
    script = api_client(editor, project, "editor")
    body = {"name": "Ours", "profile": "wiggum"}

    def send():
        return ApiClient(script.token).post(f"{HERE}/rubrics", body, Idempotency_Key="one")

    answers = at_once(*[send] * 4)
    assert {answer.status_code for answer in answers} <= {201, 409}
    made = {answer.content for answer in answers if answer.status_code == 201}
    assert len(made) == 1
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} <= {"in_flight"}
    assert project.rubrics.count() == 1
    assert send().content in made
    assert Run.objects.count() == 0
