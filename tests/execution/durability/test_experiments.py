"""An experiment with killed workers and lost messages: no run is lost or duplicated."""

import json
import signal
from collections.abc import Iterator

import pytest

from benchmarks.chaos import CONFIGURATIONS, LAUNCH_EXPERIMENT, REPORT
from benchmarks.instance import wait_for
from tests.execution.durability.services import missing
from tests.execution.durability.stage import PATIENCE, Stage, stage_set
from tests.execution.durability.telling import marker_made, task_with

LEASE = ("--lease", "3")
TASKS, ROUNDS = 4, 2
CELLS = TASKS * CONFIGURATIONS
ENDED = "SELECT count(*) FROM refinement_experimentrun WHERE state = 'done'"


@pytest.fixture(params=["sqlite", "postgres+redis"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    if reason := missing(request.param):
        pytest.skip(reason)
    with stage_set(request.param) as stage:
        yield stage


def test_survives_killed_workers_and_lost_messages(stage: Stage) -> None:
    tasks = [task_with(marker_made(number, course=number)) for number in range(TASKS)]
    stage.app.manage("shell", "-v0", "--no-imports", "-c", LAUNCH_EXPERIMENT % (tasks, ROUNDS))
    for ended in (2, CELLS - 1):
        worker = stage.worker(*LEASE)
        wait_for(lambda ended=ended: stage.rows.one(ENDED) >= ended, PATIENCE)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        stage.forget_messages()
    finished = "SELECT count(*) FROM refinement_experiment WHERE status = 'finished'"
    with stage.working(*LEASE):
        wait_for(lambda: stage.rows.one(finished), PATIENCE)
    report = json.loads(stage.app.manage("shell", "-v0", "--no-imports", "-c", REPORT))
    assert report["problems"] == []
    assert sum(report["endings"].values()) == CELLS == stage.rows.one(ENDED)
