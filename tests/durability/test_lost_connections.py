"""A connection to the database that breaks off while a model writes costs no call."""

from collections.abc import Iterator

import pytest

from benchmarks.instance import wait_for
from tests.durability.services import missing
from tests.durability.stage import CALLS, Stage, stage_set


@pytest.fixture
def team() -> Iterator[Stage]:
    if reason := missing("postgres"):
        pytest.skip(reason)
    with stage_set("postgres") as stage:
        yield stage


def test_a_connection_cut_in_mid_generation_costs_at_most_the_call_in_flight(team: Stage) -> None:
    assert team.database is not None
    team.server.chunk_delay = 0.8
    with team.working():
        (run,) = team.launch()
        for call in (1, 2, 3):
            wait_for(lambda call=call: team.chats(run) == call, 30)
            team.database.cut()
        team.server.chunk_delay = 0.02
        team.wait_for_end(run)
    assert CALLS <= team.chats(run) <= CALLS + 1
    assert team.rounds(run) == 3
