"""`wiggum refine`: the management command's own code here, a run of theirs on a server."""

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
