"""Boards through the API: who judges a launch, what it costs, and the run's own texts."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_from_json
from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges, PanelJudge
from refinement.models import Run
from refinement.services.rubrics.editing import rubric_create

pytestmark = pytest.mark.django_db
HERE = "/projects/alpha"
LAUNCH = {
    "task": "Explain our backups.",
    "seed": "A first text.",
    "rubric": "board",
    "producer": "ollama/writer:1b",
    "judge": "ollama/reader:8b",
}
PANEL = (PanelJudge("Reader", "You read it once."), PanelJudge("Expert", "You know it.", "lab/big"))


@pytest.fixture(autouse=True)
def _rubric(project):
    board = replace(rubric_for("wiggum"), judges=Judges(JudgeMode.AUTO, PANEL), background="Facts.")
    rubric_create(project=project, slug="board", definition=board)


def test_an_estimate_says_who_judges_and_what_each_role_takes(api_editor):
    told = api_editor.post(f"{HERE}/runs/estimate", LAUNCH | {"settings": {"rounds": 2}}).json()
    assert told["judging"] == {
        "mode": "board",
        "words": "Automatic: a board of 2, because the rubric has 6 criteria",
        "judges": [
            {"name": "Reader", "lens": "You read it once.", "model": "ollama/reader:8b"},
            {"name": "Expert", "lens": "You know it.", "model": "lab/big"},
        ],
        "size": 2,
        "deliberation": True,
        "clerk": "ollama/reader:8b",
        "on_plateau": "",
    }
    assert told["calls"] == {"low": 5, "high": 5 * 2 + 1 + 1}
    assert told["round_calls"] == 7
    assert {entry["role"]: entry["calls"]["high"] for entry in told["roles"]} == {
        "producer": 1,
        "judge": 8,
        "clerk": 3,
    }
    assert told["seconds"] is None
    assert "no-endpoint-lab" in [entry["code"] for entry in told["warnings"]]
    assert Run.objects.count() == 0


def test_one_judge_can_be_chosen(api_editor):
    told = api_editor.post(f"{HERE}/runs/estimate", LAUNCH | {"judges": "single"}).json()
    assert (told["judging"]["mode"], told["judging"]["clerk"]) == ("single", None)
    assert told["calls"]["high"] == 5


def test_a_launch_has_its_own_judges_clerk_and_texts(api_editor):
    body = LAUNCH | {"judges": "single", "clerk": "ollama/small", "background": "", "output_contract": "JSON"}
    assert api_editor.post(f"{HERE}/runs", body).status_code == 201
    run = Run.objects.get()
    used = rubric_from_json(run.snapshot)
    assert (used.judges.mode, used.background, used.output_contract) == (JudgeMode.SINGLE, "", "JSON")
    assert (run.clerk_endpoint, run.clerk_model) == ("ollama", "small")
    assert run.rubric_version.background == "Facts."


def test_a_launch_without_them_follows_the_rubric(api_editor):
    assert api_editor.post(f"{HERE}/runs", LAUNCH).status_code == 201
    used = rubric_from_json(Run.objects.get().snapshot)
    assert (used.judges.mode, used.background) == (JudgeMode.BOARD, "Facts.")


@pytest.mark.parametrize("address", ["runs", "runs/estimate"])
@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"judges": "jury"}, "judges"),
        ({"clerk": "nowhere/x"}, "clerk"),
        ({"background": "x" * 50_001}, "background"),
    ],
)
def test_what_is_wrong_is_named(api_editor, address, change, where):
    answer = api_editor.post(f"{HERE}/{address}", LAUNCH | change)
    assert answer.status_code == 422
    assert where in answer.json()["errors"][0]["where"]
    assert not Run.objects.exists()


def test_it_is_for_editors(api_viewer, api_outsider):
    for address in ("runs", "runs/estimate"):
        assert api_viewer.post(f"{HERE}/{address}", LAUNCH).status_code == 403
        assert api_outsider.post(f"{HERE}/{address}", LAUNCH).status_code == 404
