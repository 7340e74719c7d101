"""A worker that receives SIGTERM releases its runs immediately, and another one continues them."""

from benchmarks.instance import wait_for
from tests.execution.durability.stage import CALLS, PATIENCE, Stage
from tests.execution.durability.stopping import stop_gracefully
from tests.loopback.faults import Fault


def goes_on_at_once(stage: Stage, runs: list[int]) -> None:
    seen = {run: stage.chats(run) for run in runs}
    with stage.working():
        wait_for(lambda: all(stage.chats(run) > seen[run] for run in runs), PATIENCE)
        stage.wait_for_end(*runs)


def in_mid_generation(stage: Stage, runs: list[int]) -> None:
    wait_for(lambda: all(stage.chats(run) == 1 for run in runs), PATIENCE)


def test_a_worker_in_mid_generation_hands_its_runs_over(stage: Stage) -> None:
    """Two replies are slowly written, and of the third not one word comes."""
    stage.server.chunk_delay = 30.0
    stage.server.faults = [Fault("hang", nth=(1,))]
    worker = stage.worker()
    runs = stage.launch(3)
    wait_for(lambda: all(stage.chats(run) == 1 for run in runs), PATIENCE)
    stop_gracefully(worker)
    assert [stage.lease_owner(run) for run in runs] == ["", "", ""]
    stage.server.chunk_delay, stage.server.faults = 0.02, []
    goes_on_at_once(stage, runs)
    assert [stage.chats(run) for run in runs] == [CALLS + 1] * 3


def test_runs_in_flight_go_on_after_an_upgrade(stage: Stage) -> None:
    """Stop, migrate, start."""
    stage.server.chunk_delay = 1.0
    worker = stage.worker()
    runs = stage.launch(3)
    wait_for(lambda: all(stage.chats(run) >= 2 for run in runs), PATIENCE)
    stop_gracefully(worker)
    assert [stage.status(run) for run in runs] == ["running"] * 3
    stage.app.manage("migrate", "-v0")
    stage.server.chunk_delay = 0.02
    goes_on_at_once(stage, runs)
    assert all(stage.chats(run) <= CALLS + 1 for run in runs)
    stories = [stage.story(run) for run in runs]
    assert [len(story["rounds"]) for story in stories] == [3] * 3
    assert stories[0] == stories[1] == stories[2]


def test_runs_that_somebody_stops_are_left_and_no_others(stage: Stage) -> None:
    """Not one word comes: the thread that watches calls closes their connections."""
    stage.server.faults = [Fault("hang")]
    with stage.working():
        runs = stage.launch(3)
        wait_for(lambda: all(stage.chats(run) == 1 for run in runs), PATIENCE)
        stopped, kept = runs[:2], runs[2]
        for run in stopped:
            stage.rows.all(
                "UPDATE refinement_run SET status = 'paused', attempt = attempt + 1 WHERE id = ?", run
            )
        wait_for(lambda: all(hung_up(stage, run) for run in stopped), PATIENCE)
        assert not hung_up(stage, kept)
        assert (stage.status(kept), stage.chats(kept)) == ("running", 1)


def hung_up(stage: Stage, run: int) -> bool:
    """Whether the server saw that the run's caller was gone."""
    marker = stage.markers[run]
    return any(chat.aborted and marker in str(chat.body) for chat in stage.server.chats)
