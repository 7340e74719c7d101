"""A short database outage at any time costs no call."""

import time

import pytest

from benchmarks.instance import wait_for
from tests.execution.durability.stage import CALLS, PATIENCE, ROUNDS, Stage
from tests.execution.durability.stopping import stop_gracefully


@pytest.mark.parametrize("stage_of_size", ["postgres"], indirect=True)
def test_a_connection_cut_in_mid_generation_costs_no_call(stage: Stage) -> None:
    assert stage.database is not None
    stage.server.chunk_delay = 0.8
    with stage.working():
        (run,) = stage.launch()
        for call in (1, 2, 3):
            wait_for(lambda call=call: stage.chats(run) == call, PATIENCE)
            stage.database.reset_connections()
        # By now other threads of the worker hold connections that were reset, and have not noticed.
        stage.server.chunk_delay = 0.02
        stage.wait_for_end(run)
    assert stage.chats(run) == CALLS
    assert stage.rounds(run) == ROUNDS


@pytest.mark.parametrize("stage_of_size", ["postgres", "postgres+redis"], indirect=True)
def test_a_reply_that_comes_while_the_database_is_away_is_kept(stage: Stage) -> None:
    assert stage.database is not None
    stage.server.chunk_delay = 0.08  # no call lasts until somebody would look whether the run is still wanted
    with stage.working():
        (run,) = stage.launch()
        for call in range(1, CALLS + 1):
            wait_for(lambda call=call: stage.chats(run) == call, PATIENCE)
            stage.database.stop()
            wait_for(lambda call=call: replied_a_second_ago(stage, call), PATIENCE)
            stage.database.start()
        stage.wait_for_end(run)
    assert stage.chats(run) == CALLS
    assert stage.rounds(run) == ROUNDS


@pytest.mark.parametrize("stage_of_size", ["postgres"], indirect=True)
def test_a_worker_that_is_stopped_while_the_database_is_away_does(stage: Stage) -> None:
    """Even with a reply in its hands that it tries to keep; another asks once more, and the run goes on."""
    assert stage.database is not None
    stage.server.chunk_delay = 0.08
    worker = stage.worker("--lease", "4")
    (run,) = stage.launch()
    wait_for(lambda: stage.chats(run) == 1, PATIENCE)
    stage.database.stop()
    wait_for(lambda: replied_a_second_ago(stage, 1), PATIENCE)
    stop_gracefully(worker)
    stage.database.start()
    with stage.working("--lease", "4"):
        stage.wait_for_end(run)
    assert stage.chats(run) == CALLS + 1
    assert stage.rounds(run) == ROUNDS


def replied_a_second_ago(stage: Stage, call: int) -> bool:
    finished = stage.server.chats[call - 1].finished
    return finished is not None and time.monotonic() > finished + 1
