"""The command's outcomes, tested in this process: exit codes, and changes by others meanwhile."""

import json
import signal

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from refinement.engine.profiles import rubric_for
from refinement.execution import foreground
from refinement.management.commands import refine as command
from refinement.models import Run
from tests.execution.wire.stage import draft, drafts, no_wait, verdict
from tests.loopback.faults import Fault
from tests.loopback.server import LoopbackServer
from tests.management.conftest import MODELS

WIGGUM = rubric_for("wiggum")
PLAIN = ("--rubric", "wiggum", "--task", "Explain.", *MODELS)


@pytest.fixture
def server(db, ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> LoopbackServer:
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    monkeypatch.setattr(foreground, "wait_until", no_wait)
    return ollama_server


def ended(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        call_command("refine", *arguments)
    assert isinstance(caught.value.code, int)
    return caught.value.code


def says(server: LoopbackServer, *scores: float) -> None:
    judge = [verdict(WIGGUM, score) for score in scores]
    server.replies = lambda asked: (judge if asked.role == "judge" else drafts(9))[asked.number - 1]


@pytest.mark.parametrize(
    ("scores", "code", "best"), [((9.5,), 0, draft(1)), ((5, 7, 6), 1, draft(2)), ((5, 5), 1, draft(1))]
)
def test_the_outcome_is_the_exit_status(server, capsys, scores, code, best):
    says(server, *scores)
    assert ended(*PLAIN) == code
    assert capsys.readouterr().out == best + "\n"


def test_an_error_leaves_what_was_best_before_it(server, capsys):
    says(server, 6)
    server.faults = [Fault("status", nth=(2,), role="producer", status=401)]
    assert ended(*PLAIN, "--json") == 3
    report = json.loads(capsys.readouterr().out)
    assert (report["outcome"], report["best_candidate"]) == ("ERROR", draft(1))


def test_a_wait_is_told_and_gone_through(server, capsys):
    says(server, 9.5)
    server.faults = [Fault("rate_limit", nth=(1,))]
    assert ended(*PLAIN) == 0
    assert "waiting to retry: Ollama at" in capsys.readouterr().err


def test_an_interruption_while_waiting_leaves_the_run_paused(server, monkeypatch, capsys):
    says(server, 9.5)
    server.faults = [Fault("rate_limit", nth=(1,))]

    def interrupted(moment):
        command.as_interrupt(signal.SIGTERM, None)

    monkeypatch.setattr(foreground, "wait_until", interrupted)
    assert ended(*PLAIN) == 130
    run = Run.objects.get()
    assert (run.status, run.next_try_at, run.waiting_for) == ("paused", None, "")
    assert f"--resume {run.pk}" in capsys.readouterr().err
    monkeypatch.setattr(foreground, "wait_until", no_wait)
    assert ended("--resume", str(run.pk)) == 0


def test_a_run_that_somebody_cancels_ends_as_interrupted(server, monkeypatch, capsys):
    says(server, 5, 6, 7)

    def cancel(step):
        if getattr(step, "round", 0) == 2:
            Run.objects.update(
                status="finished", outcome="CANCELLED", stop_reason="cancelled", finished_at=timezone.now(),
                why="Cancelled by Olivia.", lease_owner="",
            )  # fmt: skip

    monkeypatch.setattr(command.Progress, "step", lambda self, step: cancel(step))
    assert ended(*PLAIN) == 130
    assert "CANCELLED: Cancelled by Olivia." in capsys.readouterr().err
    assert Run.objects.get().rounds.count() == 1


def test_a_run_that_somebody_pauses_is_said_to_be_elsewhere(server, monkeypatch, capsys):
    says(server, 5, 6, 7)
    monkeypatch.setattr(
        command.Progress, "step", lambda self, step: Run.objects.update(status="paused", lease_owner="")
    )
    assert ended(*PLAIN) == 130
    assert "is now paused; another process took it over" in capsys.readouterr().err


def test_a_run_taken_by_another_while_it_waited(server, monkeypatch):
    says(server, 5)
    server.faults = [Fault("rate_limit", nth=(1,))]
    monkeypatch.setattr(
        foreground,
        "wait_until",
        lambda moment: Run.objects.update(status="running", lease_owner="worker:1", lease_until=moment),
    )
    with pytest.raises(CommandError, match="is being worked on elsewhere") as caught:
        call_command("refine", *PLAIN)
    assert caught.value.returncode == 3
    assert (Run.objects.get().status, Run.objects.get().lease_owner) == ("running", "worker:1")


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_detached_run_is_queued_and_its_number_printed(server, capsys, flags):
    call_command("refine", *PLAIN, "--detach", *flags)
    run = Run.objects.get()
    out = capsys.readouterr().out
    assert out.strip() == (json.dumps({"run": run.pk, "status": "queued"}) if flags else str(run.pk))
    assert (run.status, run.calls.count(), server.chats) == ("queued", 0, [])
