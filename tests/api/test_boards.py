"""Boards through the API: who judges, what each judge said, and the answer to a run that asks."""

import pytest

from refinement.models import AuditEntry, Run
from refinement.services.reviews.blind_readings import blind_reading_begin
from refinement.services.rubrics.editing import default_rubrics_install, rubric_create
from tests.services.runs.board_rows import board_rubric, board_run
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
RUNS = "/projects/alpha/runs"
LAUNCH = {
    "task": "Explain our backups.",
    "seed": "# A text that stays short.",
    "rubric": "wiggum",
    "producer": "ollama/loopback:1b",
    "judge": "ollama/loopback:8b",
}


def test_a_run_says_who_judges_it(api_viewer, project):
    run = board_run(project, escalated_after=1)
    told = api_viewer.get(f"{RUNS}/{run.pk}").json()
    assert (told["judge_mode"], told["clerk"]) == ("board", "ollama/gemma3:27b")
    assert (told["escalated_after"], told["asking"]) == (1, False)
    assert told["panel"][0] == {
        "seat": 1,
        "name": "Reader",
        "lens": "You read it once.",
        "model": "ollama/reader:1b",
        "by_clerk": False,
    }
    assert [(judge["name"], judge["model"]) for judge in told["panel"][1:]] == [
        ("Expert", "ollama/gemma3:27b"),
        ("Editor", "ollama/gemma3:27b"),
    ]


def test_a_round_says_what_each_judge_said(api_viewer, project):
    run = board_run(project)
    told = api_viewer.get(f"{RUNS}/{run.pk}/rounds/2").json()
    assert told["key_change"] == "adds example 2"
    assert (set(told["spread"].values()), told["summary"]["direction"]) == ({"2"}, "Be concrete.")
    reader, expert, editor = told["judges"]
    assert (reader["name"], reader["lens"], reader["model"]) == (
        "Reader",
        "You read it once.",
        "ollama/reader:1b",
    )
    assert reader["asi"] == "Reader wants an example."
    assert {entry["score"] for entry in reader["scores"]} == {"3"}
    assert set(reader["revised"].values()) == {"7"}
    assert {entry["stance"] for entry in reader["stances"]} == {"concede"}
    assert reader["stances"][0]["reasoning"] == "Reader answers."
    assert set(expert["revised"].values()) == {"3"}  # a challenge changes no score
    assert (editor["problem"], editor["scores"], editor["revised"]) == (
        "The reply has no scores.",
        [],
        None,
    )
    assert told["verdicts"][0]["judge"] == "board"
    line = api_viewer.get(f"{RUNS}/{run.pk}/rounds").json()["items"][1]
    assert (line["key_change"], line["summary"]["working"]) == ("adds example 2", ["short"])


def test_without_a_board_nobody_else_spoke(api_viewer, project):
    run = finished_run(project)
    told = api_viewer.get(f"{RUNS}/{run.pk}/rounds/2").json()
    assert (told["judges"], told["spread"], told["summary"], told["key_change"]) == ([], None, None, None)
    assert api_viewer.get(f"{RUNS}/{run.pk}").json()["panel"] == []


def test_calls_say_what_they_were_for(api_viewer, project):
    run = board_run(project)
    calls = api_viewer.get(f"{RUNS}/{run.pk}/calls", {"round": "1"}).json()["items"]
    assert [(call["role"], call["purpose"], call["seat"]) for call in calls] == [
        ("producer", "draft", 0),
        ("judge", "score", 1),
        ("judge", "deliberate", 1),
        ("judge", "score", 2),
        ("judge", "deliberate", 2),
        ("judge", "score", 3),
        ("judge", "deliberate", 3),
        ("clerk", "merge", 0),
    ]


# --- launching ------------------------------------------------------------------------------------
def test_a_launch_can_choose_who_judges(api_editor, project):
    default_rubrics_install(project=project)
    changes = {
        "judges": "board",
        "settings": {"on_plateau": "ask"},
        "background": "For new colleagues.",
        "output_contract": "A heading first.",
        "search_space": "- shorter\n- longer",
    }
    answer = api_editor.post(RUNS, LAUNCH | {"clerk": "ollama/loopback:4b", **changes})
    assert answer.status_code == 201, answer.content
    (made,) = answer.json()["runs"]
    assert (made["clerk"], made["judge_mode"]) == ("ollama/loopback:4b", "board")
    used = made["rubric_used"]
    assert (used["background"], used["output_contract"]) == ("For new colleagues.", "A heading first.")
    assert (used["search_space"], used["policy"]["on_plateau"]) == ("- shorter\n- longer", "ask")


def test_what_is_left_out_stays_as_the_rubric_says(api_editor, project):
    definition = board_rubric()
    rubric_create(project=project, slug="board", definition=definition)
    (made,) = api_editor.post(RUNS, LAUNCH | {"rubric": "board"}).json()["runs"]
    assert (made["judge_mode"], made["clerk"]) == ("board", "ollama/loopback:8b")
    assert [judge["name"] for judge in made["panel"]] == ["Reader", "Expert", "Editor"]
    assert made["rubric_used"]["output_contract"] == definition.output_contract
    single = LAUNCH | {"rubric": "board", "judges": "single"}
    assert api_editor.post(RUNS, single).json()["runs"][0]["judge_mode"] == "single"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"clerk": "elsewhere/model"}, "body.clerk"),
        ({"judges": "jury"}, "body.judges"),
        ({"settings": {"on_plateau": "wait"}}, "body.settings.on_plateau"),
        ({"background": "x" * 200_001}, "body.background"),
    ],
)
def test_what_cannot_be_chosen_is_told_where(api_editor, project, change, where):
    default_rubrics_install(project=project)
    answer = api_editor.post(RUNS, LAUNCH | change)
    assert answer.status_code == 422
    assert [entry["where"] for entry in answer.json()["errors"]] == [where]


# --- plateau --------------------------------------------------------------------------------------
@pytest.fixture
def asking(project):
    run = board_run(project)
    values = {"outcome": "", "stop_reason": "", "finished_at": None, "status": "paused"}
    Run.objects.filter(pk=run.pk).update(plateau_asked=True, **values)
    return run


@pytest.mark.parametrize(("answer", "escalated"), [("stop", 0), ("continue", 2)])
def test_a_run_that_asks_is_answered(api_editor, asking, answer, escalated):
    assert api_editor.get(f"{RUNS}/{asking.pk}").json()["asking"]
    listed = api_editor.get(RUNS, {"fields": "id,asking"}).json()["items"]
    assert listed == [{"id": asking.pk, "asking": True}]
    told = api_editor.post(f"{RUNS}/{asking.pk}/plateau", {"answer": answer})
    assert told.status_code == 200
    body = told.json()
    assert (body["status"], body["asking"], body["escalated_after"]) == ("queued", False, escalated)
    assert AuditEntry.objects.filter(action=f"run.plateau_{answer}").count() == 1
    again = api_editor.post(f"{RUNS}/{asking.pk}/plateau", {"answer": answer})
    assert again.status_code == 409
    assert "does not wait for a decision" in again.json()["detail"]


def test_a_wrong_answer_and_a_plain_resume_are_refused(api_editor, api_viewer, asking):
    assert api_editor.post(f"{RUNS}/{asking.pk}/plateau", {"answer": "later"}).status_code == 422
    assert api_viewer.post(f"{RUNS}/{asking.pk}/plateau", {"answer": "stop"}).status_code == 403
    resumed = api_editor.post(f"{RUNS}/{asking.pk}/resume")
    assert resumed.status_code == 409
    assert "stop it, or continue with two more rounds" in resumed.json()["detail"]


# --- blind scoring --------------------------------------------------------------------------------
@pytest.mark.parametrize("place", ["", "/rounds", "/rounds/1", "/verdicts", "/calls", "/events"])
def test_a_board_is_hidden_from_those_who_score_blind(api_viewer, viewer, project, place):
    run = board_run(project)
    blind_reading_begin(run=run, number=1, user=viewer)
    answer = api_viewer.get(f"{RUNS}/{run.pk}{place}")
    assert answer.status_code == 403
    assert b"Reader" not in answer.content
