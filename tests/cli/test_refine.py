"""`wiggum refine`: locally and on a server."""

import json
import signal

import pytest
from click.shell_completion import BashComplete

from refinement.cli import watching
from refinement.cli.main import wiggum as command
from refinement.engine.profiles import rubric_for
from refinement.models import Round, Run
from refinement.services.rubrics.editing import rubric_create
from tests.cli.conftest import called, told
from tests.execution.wire.stage import draft, drafts, verdict
from tests.loopback.fixtures import ollama_server
from tests.management.conftest import MODELS
from tests.views.runs.listed import runs_of

__all__ = ["ollama_server"]
WIGGUM = rubric_for("wiggum")
PLAIN = ("--rubric", "wiggum", "--task", "Explain.", *MODELS)


@pytest.fixture
def rubric(project):
    return rubric_create(project=project, slug="wiggum", definition=WIGGUM)


@pytest.fixture
def models(ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    judge = [verdict(WIGGUM, score) for score in (5, 9.5)]
    ollama_server.replies = lambda asked: (judge if asked.role == "judge" else drafts(9))[asked.number - 1]


def test_a_run_here(rubric, models):
    result = called("refine", *PLAIN, "--set", "policy.producer_tokens=77")
    assert (result.exit_code, result.stdout) == (0, draft(2) + "\n")
    assert "PASS:" in result.stderr
    assert Run.objects.get().snapshot["policy"]["producer_tokens"] == 77


def test_wrong_usage_here(rubric):
    result = called("refine", "--rubric", "wiggum")
    assert (result.exit_code, "--task is required" in result.stderr) == (2, True)


def test_a_run_on_a_server_is_watched_to_its_end(rubric, served, models, monkeypatch):
    def finish(_seconds):
        run = Run.objects.get()
        Round.objects.create(
            run=run, number=1, origin="draft", candidate="Better.", candidate_chars=7, composite="9.5",
            scores={"depth": "9.5"}, judged_at=run.created_at,
        )  # fmt: skip
        Run.objects.update(
            status="finished", outcome="FAIL", stop_reason="max_rounds", why="All used.", best="9.5",
            best_round=1, rounds_judged=1, trajectory=["9.5"], finished_at=run.created_at,
        )  # fmt: skip

    monkeypatch.setattr(watching.time, "sleep", finish)
    result = called("refine", *PLAIN, "--max-rounds", 2, "--threshold", "9.9", "--json")
    assert result.exit_code == 1, result.output
    report = json.loads(result.stdout)
    assert (report["outcome"], report["best_candidate"]) == ("FAIL", "Better.")
    run = Run.objects.get()
    policy = run.snapshot["policy"]
    assert (run.created_by.email, policy["max_rounds"], policy["pass_threshold"]) == (
        "edgar@example.org", 2, "9.9",
    )  # fmt: skip
    assert "round 1: 9.50" in result.stderr


def test_a_run_on_a_server_can_be_left_to_it(rubric, served, models):
    assert told(called("refine", *PLAIN, "--detach", "--json")) == {
        "run": Run.objects.get().pk,
        "status": "queued",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--rubric", "wiggum", "--task", "x"), 2, "--producer is required"),
        ((*PLAIN, "--set", "policy.feedback=asi"), 2, "cannot be changed for a single run on a server"),
        (("--rubric", "nothing", "--task", "x", *MODELS), 2, "here is no rubric 'nothing'"),
        (("--resume", "999999"), 4, "run 999999 does not exist"),
    ],
)
def test_wrong_usage_on_a_server(rubric, served, models, arguments, code, words):
    result = called("refine", *arguments)
    assert (result.exit_code, words in result.stderr) == (code, True), result.stderr
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["run", "show"], "{run}"), (["rubric", "pull"], "wiggum"), (["refine", "--rubric"], "wiggum"),
        (["run", "show", "--server", "http://localhost"], ""),
    ],
)  # fmt: skip
def test_a_shell_completes_names_from_the_local_database(rubric, project, typed, found):
    (run,) = runs_of(project, 1)
    items = BashComplete(command, {}, "wiggum", "_WIGGUM_COMPLETE").get_completions(typed, "")
    values = [item.value for item in items if item.type == "plain"]
    assert values[:1] == ([found.format(run=run.pk)] if found else [])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "notes.md").write_bytes("\ufeffBackups are made at 02:00.\r\nKäse.".encode())
    (tmp_path / "mail.txt").write_text("Restores take an hour.")
    (tmp_path / "scan.pdf").write_bytes(b"%PDF\x00\xff")
    return tmp_path


@pytest.mark.parametrize("where", ["here", "server"])
def test_sources_of_a_run(rubric, models, files, where, request):
    if where == "server":
        request.getfixturevalue("served")
    given = ("--source", files / "notes.md", "--source", files / "mail.txt")
    result = called("refine", *PLAIN, *given, "--detach")
    assert result.exit_code == 0, result.output
    assert list(Run.objects.get().sources.values_list("position", "name", "text")) == [
        (1, "notes.md", "Backups are made at 02:00.\nKäse."),
        (2, "mail.txt", "Restores take an hour."),
    ]


@pytest.mark.parametrize("where", ["here", "server"])
@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("scan.pdf", "scan.pdf is not UTF-8 text", 2),
        ("missing.txt", "No such file", 4),
        ("empty.txt", "has no text", 2),
    ],
)
def test_a_source_that_cannot_be_used(rubric, models, files, where, name, words, code, request):
    if where == "server":
        request.getfixturevalue("served")
    (files / "empty.txt").touch()
    result = called("refine", *PLAIN, "--source", files / name, "--detach")
    assert (result.exit_code, words in result.stderr) == (code, True), result.stderr
    assert not Run.objects.exists()


def test_the_task_type_and_the_round_that_passed_are_in_the_report(rubric, models, ollama_server):
    report = told(called("refine", *PLAIN, "--task-type", "How-To", "--json"))
    assert (report["task_type"], report["passed_in_round"], report["best_round"]) == ("how-to", 2, 2)
    assert Run.objects.get().task_type == "how-to"
    seen = {"judge": set(), "producer": set()}
    for chat in ollama_server.chats:
        seen[chat.role].add("\nhow-to\n<<<END TASK TYPE" in chat.body["messages"][-1]["content"])
    assert seen == {"judge": {True}, "producer": {False}}


def test_a_task_type_reaches_a_server(rubric, served, models):
    assert called("refine", *PLAIN, "--task-type", "How-To", "--detach").exit_code == 0
    assert Run.objects.get().task_type == "how-to"


def test_a_long_task_type_is_wrong_usage(rubric, models):
    result = called("refine", *PLAIN, "--task-type", "x" * 51)
    assert (result.exit_code, "at most 50 characters" in result.stderr) == (2, True)
