"""A board that stops in the middle: cancelled, paused, worker shutdown, or out of budget."""

import time
from collections.abc import Callable
from functools import partial

import pytest

from refinement.engine.types import Budget
from refinement.execution.advancing import run_advance
from refinement.models import Run
from refinement.services.runs.lifecycle import run_cancel, run_pause, run_resume
from tests.execution.boards.given import (
    UNREADABLE,
    Script,
    answers,
    board_rubric,
    ended,
    panel,
    requests,
    speakers,
)
from tests.execution.lifecycle.given import Scene, at_once
from tests.loopback.faults import Fault
from tests.loopback.replies import purpose_by_schema

STOPS = {"cancel": (run_cancel, "finished"), "pause": (run_pause, "paused")}


def stopped_when(scene: Scene, run: Run, condition: Callable[[], object], stop: Callable[..., Run]) -> float:
    """Stops the run once the condition holds; returns how long its worker took to notice."""
    moment = 0.0

    def watch() -> None:
        nonlocal moment
        scene.server.wait_for(condition)
        stop(run=run)
        moment = time.monotonic()

    result, _ = at_once(partial(run_advance, run.pk), watch)
    took = time.monotonic() - moment
    assert result.lost, result
    run.refresh_from_db()
    return took


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", STOPS)
def test_a_stop_in_mid_scoring_takes_effect_within_a_second_and_closes_every_socket(scene: Scene, how):
    stop, status = STOPS[how]
    rubric = board_rubric(panel(3))
    scene.server.replies = Script(rubric, {"Ada": [8], "Ben": [6], "Cleo": [3]})
    scene.server.faults = [Fault("hang", nth=(2, 3), role="judge")]  # one answers, of two not one word comes
    run = scene.launch(rubric)
    took = stopped_when(scene, run, lambda: len(answers(run)) == 1 and len(scene.server.chats) == 3, stop)
    assert took < 1.0
    assert (run.status, run.calling, run.lease_owner) == (status, {}, "")
    hanging = [entry for entry in scene.server.chats if entry.finished is None]
    scene.server.wait_for(lambda: all(entry.aborted for entry in hanging), 5)
    assert len(hanging) == 2
    assert (len(answers(run)), run.calls.count(), run.calls_made) == (1, 1, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("purpose", ["score", "deliberate", "merge"])
def test_a_run_that_was_paused_asks_only_those_who_had_not_answered(scene: Scene, purpose):
    rubric = board_rubric(panel(3))
    script = Script(rubric, {"Ada": [8], "Ben": [6], "Cleo": [3]})
    scene.server.replies = script
    before = {"score": 0, "deliberate": 3, "merge": 6}[purpose]
    last = before + (1 if purpose == "merge" else 3)
    scene.server.role_of = purpose_by_schema
    scene.server.faults = [Fault("hang", nth=(last - before,), role=purpose)]
    run = scene.launch(rubric)
    stopped_when(
        scene, run, lambda: len(scene.server.chats) == last and run.calls.count() == last - 1, run_pause
    )
    scene.server.faults = []
    run_resume(run=run)
    run = ended(run)
    assert (run.outcome, run.calls_made, run.calls.count()) == ("DONE", 7, 7)
    assert len(scene.server.chats) == 8, "one call more than without the pause"
    assert len(requests(scene.server, purpose)) == (2 if purpose == "merge" else 4)


# --- budgets ------------------------------------------------------------------------------------
def test_a_budget_of_calls_ends_a_run_between_two_rounds(scene: Scene):
    rubric = board_rubric(panel(2), rounds=3, budget=Budget(calls=5))
    scene.server.replies = Script(rubric)
    run = ended(scene.launch(rubric))
    assert (run.outcome, run.stop_reason, run.rounds_judged, run.calls_made) == ("DONE", "budget_calls", 1, 5)


def test_a_budget_that_is_used_up_in_mid_scoring_ends_the_run_and_its_other_calls(scene: Scene):
    rubric = board_rubric(panel(3), budget=Budget(calls=1))
    scene.server.replies = Script(rubric)
    scene.server.faults = [Fault("hang", nth=(2, 3), role="judge")]
    run = ended(scene.launch(rubric))
    assert (run.outcome, run.stop_reason, run.rounds_judged) == ("FAIL", "budget_calls", 0)
    assert (run.calls_made, run.calls.count(), len(answers(run))) == (1, 1, 1)
    scene.server.wait_for(lambda: all(entry.finished or entry.aborted for entry in scene.server.chats), 5)
    assert requests(scene.server, "deliberate") == []


def test_unreadable_replies_count_towards_the_budget(scene: Scene):
    rubric = board_rubric(panel(2), budget=Budget(calls=2))
    scene.server.replies = Script(rubric, {"Ada": [UNREADABLE], "Ben": [UNREADABLE]})
    run = ended(scene.launch(rubric))
    assert (run.stop_reason, run.calls_made) == ("budget_calls", 2)
    assert answers(run) == []


def test_a_budget_that_the_merge_uses_up_leaves_the_change_unnamed(scene: Scene):
    """Merge and description are asked at once: whichever comes first, the round is judged or is not."""
    rubric = board_rubric(panel(2), rounds=3, budget=Budget(calls=5 + 1 + 5))
    scene.server.replies = Script(rubric)
    scene.server.role_of = purpose_by_schema
    scene.server.faults = [Fault("hang", role="describe")]
    run = ended(scene.launch(rubric))
    assert (run.stop_reason, run.rounds_judged, run.calls_made) == ("budget_calls", 2, 11)
    assert run.rounds.get(number=2).key_change is None
    assert speakers(scene.server, "deliberate") == ["Ada", "Ada", "Ben", "Ben"]
