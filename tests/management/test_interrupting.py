"""Interrupt and resume: finished steps are not repeated, and the rounds are the same."""

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from refinement.engine.profiles import rubric_for
from tests.execution.wire.stage import drafts, verdict
from tests.loopback.server import LoopbackServer
from tests.management.conftest import MODELS, Refine, report_of

WIGGUM = rubric_for("wiggum")
ARGUMENTS = ("--rubric", "wiggum", "--task", "Explain the backups.", *MODELS, "--json")
SAID = {"judge": [verdict(WIGGUM, score) for score in (5, 6, 7)], "producer": drafts(3)}
REQUESTS = 6


@pytest.fixture(scope="module")
def calm(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run that nobody interrupts brings."""
    data_dir = tmp_path_factory.mktemp("calm") / "data"
    shutil.copytree(migrated, data_dir)
    with LoopbackServer() as server:
        command = Refine(data_dir, server)
        command.says(**SAID)
        done = command(*ARGUMENTS)
        assert len(server.chats) == REQUESTS
    assert done.returncode == 1, done.stderr
    return report_of(done)


def stopped(refine: Refine, number: int, how: int) -> int:
    """Stops the run while request `number` is being answered; the run's id."""
    process = refine.start(*ARGUMENTS)
    entry = refine.reached(number)
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    refine.server.wait_for(lambda: entry.aborted)
    assert entry.finished is None
    assert out == ""
    ((run, status),) = refine.query("SELECT id, status FROM refinement_run")
    if how == signal.SIGKILL:
        assert (process.returncode, status) == (-signal.SIGKILL, "running")
    else:
        assert (process.returncode, status) == (130, "paused")
        assert f"--resume {run}" in err
        assert "Traceback" not in err
    return int(run)


def without_costs(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key not in ("run", "seconds")}


@pytest.mark.parametrize(
    ("number", "how"),
    [(1, signal.SIGKILL), (4, signal.SIGINT), (5, signal.SIGTERM)],  # both roles, each signal
    ids=lambda value: value.name if isinstance(value, signal.Signals) else str(value),
)
def test_a_resumed_run_ends_as_an_undisturbed_one(refine, calm, number, how):
    refine.says(slow=number, **SAID)
    run = stopped(refine, number, how)
    assert len(refine.server.chats) == number
    assert len(refine.query("SELECT id FROM refinement_call")) == number - 1

    done = refine("--resume", str(run), "--json")
    assert done.returncode == 1, done.stderr
    assert without_costs(report_of(done)) == without_costs(calm)
    bodies = [json.dumps(entry.body, sort_keys=True) for entry in refine.server.chats]
    assert len(bodies) == REQUESTS + 1
    assert bodies[number - 1] == bodies[number]  # the call in flight, and no other
    assert len(set(bodies)) == REQUESTS
    assert len(refine.query("SELECT id FROM refinement_call")) == REQUESTS


def test_a_reply_that_could_not_be_read_is_not_asked_for_again(refine):
    judge = ["Quite good, I think.", *SAID["judge"]]
    refine.says(slow=3, judge=judge, producer=SAID["producer"])
    run = stopped(refine, 3, signal.SIGINT)
    ((reply, complaint),) = refine.query("SELECT reply, complaint FROM refinement_call WHERE role = 'judge'")
    assert reply == judge[0]
    assert complaint

    done = refine("--resume", str(run), "--json")
    assert done.returncode == 1, done.stderr
    report = report_of(done)
    assert [entry["judge_attempts"] for entry in report["rounds"]] == [2, 1, 1]
    lengths = [len(entry.body["messages"]) for entry in refine.server.chats if entry.role == "judge"]
    assert lengths == [2, 4, 4, 2, 2]
    assert len(refine.server.chats) == REQUESTS + 2


def test_a_run_that_is_being_worked_on_is_left_alone(refine):
    refine.says(slow=2, **SAID)
    process = refine.start(*ARGUMENTS)
    refine.reached(2)
    ((run,),) = refine.query("SELECT id FROM refinement_run")
    done = refine("--resume", str(run))
    assert done.returncode == 2
    assert f"run {run} is being worked on by" in done.stderr
    assert process.poll() is None
