"""`kill -9` of a worker in each phase of a board's round: only missing answers are requested again."""

import os
import signal
from typing import Any

import pytest

from benchmarks.instance import wait_for
from tests.execution.durability.stage import PATIENCE, Stage
from tests.execution.durability.telling import phase_of
from tests.loopback.faults import Fault

CALLS = 1 + (1 + 7) + (1 + 8)  # the panel; a draft and a revision, which is described, each judged by three
# The request that hangs, and how many of the run's calls are recorded by then.
PHASES = {
    "composing": ("compose 1", 1),
    "scoring, with two verdicts in": ("score 2 3", 12),
    "deliberating, with two answers in": ("deliberate 2 3", 15),
    "merging, with the change described": ("merge 2", 17),
    "describing, with the suggestions merged": ("describe 2", 17),
}
LEASE = ("--lease", "3", "--threads", str(len(PHASES)))


@pytest.fixture(scope="module")
def undisturbed(stage_of_size: Stage) -> dict[str, Any]:
    """The story of a board's run that nothing happened to."""
    stage = stage_of_size
    (run,) = stage.launch(board=True)
    with stage.working():
        stage.wait_for_end(run)
    assert stage.chats(run) == recorded(stage, run) == CALLS
    return stage.board_story(run)


def recorded(stage: Stage, run: int) -> int:
    return int(stage.rows.one("SELECT count(*) FROM refinement_call WHERE run_id = ?", run))


def has_come_to(stage: Stage, run: int, calls: int) -> bool:
    return (stage.chats(run), recorded(stage, run)) == (calls + 1, calls)


@pytest.mark.parametrize("stage_of_size", ["sqlite", "postgres+redis"], indirect=True)
def test_only_the_calls_in_flight_are_repeated(stage, undisturbed):
    """One run for each phase, and one worker for all of them."""
    stage.server.role_of = phase_of
    runs = dict(zip(PHASES, stage.launch(len(PHASES), board=True), strict=True))
    stage.server.faults = [
        Fault("hang", role=f"{stage.markers[run]} {PHASES[phase][0]}") for phase, run in runs.items()
    ]
    worker = stage.worker(*LEASE)
    wait_for(lambda: all(has_come_to(stage, run, PHASES[phase][1]) for phase, run in runs.items()), PATIENCE)
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    stage.server.faults = []
    with stage.working(*LEASE):
        stage.wait_for_end(*runs.values())
    for phase, run in runs.items():
        assert stage.board_story(run) == undisturbed, phase
        assert stage.chats(run) == CALLS + 1, phase


@pytest.mark.parametrize("stage_of_size", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("point", "most"), [("before-commit", 3), ("after-commit", 2)])
def test_a_verdict_is_kept_as_soon_as_it_is_recorded(stage, undisturbed, point, most):
    """The worker dies with the first verdict: before or after it is kept. The two others are in flight."""
    third_call = "3"
    worker = stage.worker("--point", point, "--passes", third_call, *LEASE)
    (run,) = stage.launch(board=True)
    assert worker.wait(PATIENCE) == -signal.SIGKILL
    assert recorded(stage, run) == 2 + (point == "after-commit")
    with stage.working(*LEASE):
        stage.wait_for_end(run)
    assert stage.board_story(run) == undisturbed
    assert CALLS <= stage.chats(run) <= CALLS + most
