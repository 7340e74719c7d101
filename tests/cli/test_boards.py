"""Boards on the command line: who judges, what each judge said, and runs that ask whether to continue."""

import json
import signal

import pytest

from refinement.cli import watching
from refinement.engine.profiles import rubric_for
from refinement.models import Run
from refinement.services.rubrics.editing import rubric_create
from tests.cli.conftest import called, told
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import valid_replies
from tests.management.conftest import MODELS
from tests.services.runs.board_rows import board_rubric, board_run
from tests.views.runs.finished import finished_run

__all__ = ["ollama_server"]
ASKS = ("--set", "policy.on_plateau=ask")


@pytest.fixture
def seed(tmp_path):
    file = tmp_path / "seed.md"
    file.write_text("# A text about backups.")
    return file


@pytest.fixture
def plain(project, seed):
    """The arguments of a run with a board of three."""
    rubric_create(project=project, slug="board", definition=board_rubric())
    return ("--rubric", "board", "--task", "Explain.", "--seed", seed, *MODELS)


@pytest.fixture
def models(ollama_server, monkeypatch):
    """Models that always give the same scores, so that runs come to a plateau."""
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    ollama_server.models = ("loopback:1b", "loopback:4b", "loopback:8b", "reader:1b")
    ollama_server.replies = valid_replies(5)


@pytest.mark.django_db(transaction=True)
def test_a_boards_rounds_are_in_the_report(plain, models):
    panel = board_rubric().judges.panel
    arguments = (*plain, "--max-rounds", 2, "--clerk", "ollama/loopback:4b", "--json")
    result = called("refine", *arguments)
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert (report["judge_mode"], report["clerk"]) == ("board", "ollama/loopback:4b")
    assert [judge["name"] for judge in report["panel"]] == ["Reader", "Expert", "Editor"]
    first, second = report["rounds"]
    assert first["key_change"] is None
    assert second["key_change"]
    for entry in (first, second):
        assert [judge["name"] for judge in entry["judges"]] == [judge.name for judge in panel]
        assert set(entry["spread"]) == set(entry["scores"]) == set(entry["judges"][0]["scores"])
        assert entry["judges"][0]["model"] == "ollama/reader:1b"
        assert set(entry["judges"][0]["revised"]) == set(entry["scores"])
        assert entry["judges"][0]["asi"]
    assert "3 judges scoring" in result.stderr
    assert "loopback:4b is merging the verdicts" in result.stderr


@pytest.mark.django_db(transaction=True)
def test_who_judges_can_be_chosen(project, plain, models):
    result = called("refine", *plain, "--max-rounds", 1, "--judges", "single", "--json")
    report = json.loads(result.stdout)
    assert (report["judge_mode"], report["rounds"][0]["judges"]) == ("single", [])
    assert report["rounds"][0]["spread"] is None
    assert Run.objects.get().calls.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("answer", "rounds", "reason"), [("stop", 4, "plateau"), ("continue", 6, "max_rounds")]
)
def test_a_run_in_the_foreground_asks_and_is_answered(project, seed, models, answer, rounds, reason):
    rubric_create(project=project, slug="simmer", definition=rubric_for("simmer"))
    plain = ("--rubric", "simmer", "--task", "Explain.", "--seed", seed, *MODELS, "--max-rounds", 9, *ASKS)
    result = called("refine", *plain, "--json")
    assert result.exit_code == 5, result.stderr
    report = json.loads(result.stdout)
    assert (report["status"], report["asking"], len(report["rounds"])) == ("paused", True, 4)
    number = report["run"]
    assert f"To end it: wiggum refine --resume {number} --answer stop." in result.stderr

    refused = called("refine", "--resume", number)
    assert refused.exit_code == 2
    assert "add --answer stop or --answer continue" in refused.stderr

    result = called("refine", "--resume", number, "--answer", answer, "--json")
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert (report["asking"], report["stop_reason"], len(report["rounds"])) == (False, reason, rounds)
    again = called("refine", "--resume", number, "--answer", answer)
    assert (again.exit_code, "does not wait for a decision" in again.stderr) == (2, True)


def test_an_answer_needs_its_run(db):
    result = called("refine", "--answer", "stop")
    assert (result.exit_code, "--answer requires --resume RUN" in result.stderr) == (2, True)


@pytest.fixture
def asking(project):
    run = finished_run(project, ("5", "5"), definition=rubric_for("simmer"))
    values = {"outcome": "", "stop_reason": "", "finished_at": None, "status": "paused", "why": ""}
    Run.objects.filter(pk=run.pk).update(plateau_asked=True, **values)
    return run


@pytest.mark.django_db
def test_on_a_server_a_run_is_judged_by_a_board_with_a_clerk(plain, served, models):
    arguments = (*plain, "--judges", "board", "--clerk", "ollama/loopback:4b", *ASKS, "--detach", "--json")
    number = told(called("refine", *arguments))["run"]
    run = Run.objects.get(pk=number)
    assert (run.clerk_model, run.panel.count()) == ("loopback:4b", 3)
    assert run.snapshot["policy"]["on_plateau"] == "ask"
    texts = ("--set", "background=For new colleagues.", "--set", "search_space=shorter; longer")
    arguments = (*plain, "--judges", "single", *texts, "--detach", "--json")
    run = Run.objects.get(pk=told(called("refine", *arguments))["run"])
    assert run.snapshot["judges"]["mode"] == "single"
    assert (run.snapshot["background"], run.snapshot["search_space"]) == (
        "For new colleagues.",
        "shorter; longer",
    )


@pytest.mark.django_db
def test_on_a_server_a_run_that_asks_ends_the_command(asking, served, models, monkeypatch):
    Run.objects.filter(pk=asking.pk).update(plateau_asked=False)

    def ask(_seconds):
        Run.objects.filter(pk=asking.pk).update(status="paused", plateau_asked=True)

    monkeypatch.setattr(watching.time, "sleep", ask)
    result = called("refine", "--resume", asking.pk)
    assert (result.exit_code, result.stdout) == (5, "")
    assert f"wiggum run answer {asking.pk} continue" in result.stderr
    monkeypatch.setattr(watching.time, "sleep", lambda _: run_ends(asking))
    result = called("refine", "--resume", asking.pk, "--answer", "stop", "--json")
    assert result.exit_code == 0, result.output
    assert Run.objects.get(pk=asking.pk).plateau_accepted


def run_ends(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(
        status="finished", outcome="DONE", stop_reason="plateau", finished_at=run.created_at
    )


@pytest.mark.django_db
@pytest.mark.parametrize(("answer", "accepted"), [("stop", True), ("continue", False)])
def test_a_run_that_asks_is_answered(wiggum, asking, answer, accepted):
    shown = wiggum("run", "show", asking.pk).stdout
    assert f"waits for a decision. To end it: wiggum run answer {asking.pk} stop." in shown
    (line,) = told(wiggum("run", "answer", asking.pk, answer, "--json"))["runs"]
    assert (line["status"], line["asking"]) == ("queued", False)
    asking.refresh_from_db()
    assert (asking.plateau_accepted, asking.escalated_after) == (accepted, 0 if accepted else 2)
    again = wiggum("run", "answer", asking.pk, answer)
    assert (again.exit_code, "does not wait for a decision" in again.stderr) == (4, True)


@pytest.mark.django_db
def test_a_wrong_answer_is_wrong_usage(wiggum, asking):
    assert wiggum("run", "answer", asking.pk, "later").exit_code == 2
    assert wiggum("run", "resume", asking.pk).exit_code == 4


@pytest.mark.django_db
def test_a_watched_run_says_that_it_asks(wiggum, asking, monkeypatch):
    monkeypatch.setattr(watching.time, "sleep", lambda _: run_ends(asking))
    result = wiggum("run", "watch", asking.pk)
    assert result.exit_code == 0
    assert result.stderr.count(f"wiggum run answer {asking.pk} continue") == 1


@pytest.mark.django_db
def test_a_boards_run_in_words_and_whole(wiggum, project):
    run = board_run(project)
    shown = wiggum("run", "show", run.pk).stdout
    assert "board of 3 (Reader, Expert, Editor) · clerk ollama/gemma3:27b" in shown
    assert "KEY CHANGE" in shown
    assert "adds example 2" in shown
    assert "Judges of round 2:" in shown
    assert "3.00 → 7.00" in shown
    assert "Editor: no valid reply: The reply has no scores." in shown
    report = told(wiggum("run", "show", run.pk, "--json"))
    assert report["rounds"][1]["judges"][0] == {
        "name": "Reader",
        "model": "ollama/reader:1b",
        "scores": dict.fromkeys(report["rounds"][1]["scores"], 3.0),
        "revised": dict.fromkeys(report["rounds"][1]["scores"], 7.0),
        "asi": "Reader wants an example.",
        "problem": "",
    }
    assert report["rounds"][1]["summary"]["direction"] == "Be concrete."


@pytest.mark.django_db
def test_a_board_that_is_yet_to_be_composed(wiggum, project):
    run = finished_run(project, definition=rubric_for("simmer"), escalated_after=2)
    assert "board, not composed yet after round 2" in wiggum("run", "show", run.pk).stdout
