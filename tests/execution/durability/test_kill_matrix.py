"""`kill -9` of a worker at each point of a step: the run continues, only the call in flight is repeated."""

import signal
import subprocess
from typing import Any

import pytest

from tests.execution.durability.dying_worker import CALL_LOST, POINTS
from tests.execution.durability.stage import CALLS, PATIENCE, Stage

SHORT_LEASE = ("--lease", "3")
# What the killed worker leaves: the calls that the model server saw, the rounds that were kept, and whether
# the run's lease is still there to run out.
LEFT_BEHIND = {
    "before-claim": (0, 0, False),
    "after-claim": (0, 0, True),
    "before-step": (2, 1, True),
    "mid-generation": (3, 1, True),
    "before-commit": (3, 1, True),
    "after-commit": (3, 2, True),
    "before-yield": (1, 1, True),
    "after-yield": (1, 1, False),
}


@pytest.fixture(scope="module")
def undisturbed(stage_of_size: Stage) -> dict[str, Any]:
    """The story of a run that nothing happened to."""
    (run,) = stage_of_size.launch()
    with stage_of_size.working():
        stage_of_size.wait_for_end(run)
    assert stage_of_size.chats(run) == CALLS
    return stage_of_size.story(run)


def launched_and_lost(stage: Stage, point: str, *options: str) -> int:
    """A run whose first worker died at the point, and was there for sure."""
    process = stage.worker("--point", point, *options)
    (run,) = stage.launch()
    try:
        assert process.wait(timeout=PATIENCE) == -signal.SIGKILL
    except subprocess.TimeoutExpired:
        pytest.fail(f"the worker never came to {point}; the run is {stage.status(run)}")
    return run


def is_as_it_was_left(stage: Stage, run: int, point: str) -> None:
    left = (stage.chats(run), stage.rounds(run), bool(stage.lease_owner(run)))
    assert left == LEFT_BEHIND[point]


def goes_on(stage: Stage, run: int, point: str, undisturbed: dict[str, Any], *options: str) -> None:
    with stage.working(*options):
        stage.wait_for_end(run)
    assert stage.story(run) == undisturbed
    assert stage.chats(run) == CALLS + (point in CALL_LOST)


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_worker_costs_at_most_the_call_in_flight(stage, undisturbed, point):
    run = launched_and_lost(stage, point, *SHORT_LEASE)
    is_as_it_was_left(stage, run, point)
    goes_on(stage, run, point, undisturbed, *SHORT_LEASE)


@pytest.mark.parametrize("stage_of_size", ["sqlite", "postgres"], indirect=True)
def test_a_run_goes_on_in_time_with_the_leases_of_production(stage, undisturbed):
    """A lease is the database's; what brings the messages has no part in how long it lasts."""
    run = launched_and_lost(stage, "mid-generation")
    is_as_it_was_left(stage, run, "mid-generation")
    goes_on(stage, run, "mid-generation", undisturbed)
