"""A step with an unexpected error is retried, and finally ends its run."""

import pytest

from benchmarks.instance import wait_for
from refinement.execution.advancing import MAX_ERRORS
from tests.execution.durability.stage import CALLS, PATIENCE, Stage

RETRY = """
from refinement.models import Run
from refinement.services.runs.lifecycle import run_retry
run_retry(run=Run.objects.get(pk={}))
"""


@pytest.mark.parametrize("stage_of_size", ["sqlite"], indirect=True)
def test_a_step_that_always_fails_ends_its_run_and_harms_no_other(stage: Stage) -> None:
    (broken,) = stage.launch()
    (snapshot,) = stage.rows.all("SELECT snapshot FROM refinement_run WHERE id = ?", broken)[0]
    stage.rows.all("UPDATE refinement_run SET snapshot = '{}' WHERE id = ?", broken)
    with stage.working():
        wait_for(lambda: attempts(stage, broken) >= 2, PATIENCE)
        (healthy,) = stage.launch()
        stage.wait_for_end(healthy)
        assert stage.rows.one("SELECT count(*) FROM refinement_queuedmessage") <= 3
        assert stage.lease_owner(broken) == ""
        wait_for(lambda: stage.status(broken) == "finished", PATIENCE)
    (ended,) = stage.rows.all(
        "SELECT attempt, outcome, stop_reason, why FROM refinement_run WHERE id = ?", broken
    )
    assert ended[:3] == (MAX_ERRORS, "ERROR", "internal_error")
    assert "failed 6 times with an unexpected error (BadRubric)" in ended[3]
    stage.rows.all("UPDATE refinement_run SET snapshot = ? WHERE id = ?", snapshot, broken)
    stage.app.manage("shell", "-v0", "-c", RETRY.format(broken))
    with stage.working():
        stage.wait_for_end(broken)
    assert stage.chats(broken) == CALLS


def attempts(stage: Stage, run: int) -> int:
    return int(stage.rows.one("SELECT attempt FROM refinement_run WHERE id = ?", run))
