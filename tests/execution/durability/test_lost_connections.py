"""A short database outage at any time costs no call."""

import time
from collections.abc import Iterator

import pytest

from benchmarks.instance import wait_for
from tests.execution.durability.services import missing
from tests.execution.durability.stage import CALLS, PATIENCE, ROUNDS, Stage, stage_set
from tests.execution.durability.stopping import stop_gracefully

SIZE = "postgres"


@pytest.fixture
def team(request: pytest.FixtureRequest) -> Iterator[Stage]:
    size = getattr(request, "param", SIZE)
    if reason := missing(size):
        pytest.skip(reason)
    with stage_set(size) as stage:
        yield stage


def test_a_connection_cut_in_mid_generation_costs_no_call(team: Stage) -> None:
    assert team.database is not None
    team.server.chunk_delay = 0.8
    with team.working():
        (run,) = team.launch()
        for call in (1, 2, 3):
            wait_for(lambda call=call: team.chats(run) == call, PATIENCE)
            team.database.reset_connections()
        # By now other threads of the worker hold connections that were reset, and have not noticed.
        team.server.chunk_delay = 0.02
        team.wait_for_end(run)
    assert team.chats(run) == CALLS
    assert team.rounds(run) == ROUNDS


@pytest.mark.parametrize("team", ["postgres", "postgres+redis"], indirect=True)
def test_a_reply_that_comes_while_the_database_is_away_is_kept(team: Stage) -> None:
    assert team.database is not None
    team.server.chunk_delay = 0.08  # no call lasts until somebody would look whether the run is still wanted
    with team.working():
        (run,) = team.launch()
        for call in range(1, CALLS + 1):
            wait_for(lambda call=call: team.chats(run) == call, PATIENCE)
            team.database.stop()
            wait_for(lambda call=call: replied_a_second_ago(team, call), PATIENCE)
            team.database.start()
        team.wait_for_end(run)
    assert team.chats(run) == CALLS
    assert team.rounds(run) == ROUNDS


def test_a_worker_stop_gracefully_while_the_database_is_away_does(team: Stage) -> None:
    """Even with a reply in its hands that it tries to keep; another asks once more, and the run goes on."""
    assert team.database is not None
    team.server.chunk_delay = 0.08
    worker = team.worker("--lease", "4")
    (run,) = team.launch()
    wait_for(lambda: team.chats(run) == 1, PATIENCE)
    team.database.stop()
    wait_for(lambda: replied_a_second_ago(team, 1), PATIENCE)
    stop_gracefully(worker)
    team.database.start()
    with team.working("--lease", "4"):
        team.wait_for_end(run)
    assert team.chats(run) == CALLS + 1
    assert team.rounds(run) == ROUNDS


def replied_a_second_ago(team: Stage, call: int) -> bool:
    finished = team.server.chats[call - 1].finished
    return finished is not None and time.monotonic() > finished + 1
