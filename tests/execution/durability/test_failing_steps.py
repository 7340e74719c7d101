"""A step with an unexpected error is retried, and finally ends its run."""

from collections.abc import Iterator

import pytest

from benchmarks.instance import wait_for
from refinement.execution.advancing import MAX_ERRORS
from tests.execution.durability.stage import CALLS, PATIENCE, Stage, stage_set

SIZE = "sqlite"
RETRY = """
from refinement.models import Run
from refinement.services.runs.lifecycle import run_retry
run_retry(run=Run.objects.get(pk={}))
"""


@pytest.fixture
def one_machine() -> Iterator[Stage]:
    with stage_set(SIZE) as stage:
        yield stage


def test_a_step_that_always_fails_ends_its_run_and_harms_no_other(one_machine: Stage) -> None:
    (broken,) = one_machine.launch()
    (snapshot,) = one_machine.rows.all("SELECT snapshot FROM refinement_run")[0]
    one_machine.rows.all("UPDATE refinement_run SET snapshot = '{}'")
    with one_machine.working():
        wait_for(lambda: attempts(one_machine, broken) >= 2, PATIENCE)
        (healthy,) = one_machine.launch()
        one_machine.wait_for_end(healthy)
        assert one_machine.rows.one("SELECT count(*) FROM refinement_queuedmessage") <= 3
        assert one_machine.lease_owner(broken) == ""
        wait_for(lambda: one_machine.status(broken) == "finished", PATIENCE)
    (ended,) = one_machine.rows.all(
        "SELECT attempt, outcome, stop_reason, why FROM refinement_run WHERE id = ?", broken
    )
    assert ended[:3] == (MAX_ERRORS, "ERROR", "internal_error")
    assert "failed 6 times with an unexpected error (BadRubric)" in ended[3]
    one_machine.rows.all("UPDATE refinement_run SET snapshot = ? WHERE id = ?", snapshot, broken)
    one_machine.app.manage("shell", "-v0", "-c", RETRY.format(broken))
    with one_machine.working():
        one_machine.wait_for_end(broken)
    assert one_machine.chats(broken) == CALLS


def attempts(stage: Stage, run: int) -> int:
    return int(stage.rows.one("SELECT attempt FROM refinement_run WHERE id = ?", run))
