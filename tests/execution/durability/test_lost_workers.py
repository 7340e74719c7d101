"""A run whose step kills its worker each time ends in ERROR; a worker shutdown is no crash."""

import os
import signal

import pytest

from benchmarks.instance import wait_for
from refinement.execution.leases import MAX_CRASHES
from tests.execution.durability.stage import CALLS, PATIENCE, Stage
from tests.execution.durability.test_failing_steps import RETRY

LEASE = ("--lease", "3")
KILLS = ("--point", "mid-generation", "--passes", "1", *LEASE)


pytestmark = pytest.mark.parametrize("stage_of_size", ["sqlite", "postgres"], indirect=True)


def killed_by(stage: Stage, run: int) -> int:
    """The exit status of the next worker that tries the run, as soon as it does."""
    worker = stage.worker(*KILLS)

    def is_dead() -> bool:
        stage.rows.all(
            "UPDATE refinement_run SET next_try_at = '2000-01-01 00:00:00', woken_at = NULL "
            "WHERE id = ? AND status = 'waiting'",
            run,
        )
        return worker.poll() is not None

    wait_for(is_dead, PATIENCE)
    return worker.wait()


def test_a_run_that_always_kills_its_worker_ends_in_error(stage: Stage) -> None:
    (run,) = stage.launch()
    owners = set()
    for number in range(1, MAX_CRASHES + 1):
        assert killed_by(stage, run) == -signal.SIGKILL
        assert stage.chats(run) == number
        owners.add(stage.lease_owner(run))
    assert len(owners) == MAX_CRASHES
    with stage.working(*KILLS) as worker:
        wait_for(lambda: stage.status(run) == "finished", PATIENCE)
        assert worker.poll() is None
    (ended,) = stage.rows.all(
        "SELECT outcome, stop_reason, why, lease_owner, crashes FROM refinement_run WHERE id = ?", run
    )
    assert ended[:2] == ("ERROR", "internal_error")
    assert ended[2].startswith("The worker stopped or stopped responding 5 times during this step")
    assert ended[3:] == ("", MAX_CRASHES)
    assert stage.chats(run) == MAX_CRASHES
    assert stage.events(run) == ["queued", "waiting", "waiting", "waiting", "stopped"]
    stage.app.manage("shell", "-v0", "-c", RETRY.format(run))
    with stage.working(*LEASE):
        stage.wait_for_end(run)
    assert stage.chats(run) == MAX_CRASHES + CALLS
    assert stage.rows.one("SELECT crashes FROM refinement_run WHERE id = ?", run) == 0


def test_a_worker_that_is_stopped_in_a_step_is_no_crash(stage: Stage) -> None:
    stage.server.chunk_delay = 30.0
    (run,) = stage.launch()
    for number in (1, 2):
        worker = stage.worker(*LEASE)
        wait_for(lambda number=number: stage.chats(run) == number, PATIENCE)
        os.kill(worker.pid, signal.SIGTERM)
        assert worker.wait(timeout=PATIENCE) == 0
        wait_for(lambda: stage.lease_owner(run) == "", PATIENCE)
    assert stage.rows.one("SELECT crashes FROM refinement_run WHERE id = ?", run) == 0
    stage.server.chunk_delay = 0.02
    with stage.working(*LEASE):
        stage.wait_for_end(run)
