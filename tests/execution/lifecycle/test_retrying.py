"""A failed run continues after its last finished step, which is not repeated."""

import pytest

from refinement.services.runs.lifecycle import run_retry
from tests.execution.lifecycle.given import Scene, advance, kinds, now_due, rubric
from tests.loopback.faults import Fault

pytestmark = pytest.mark.django_db


def test_only_the_call_that_failed_is_made_again(scene: Scene):
    scene.says(5.0, 6.0, 7.0)
    scene.server.faults = [Fault("unknown_model", nth=(2,), role="judge")]
    run = scene.launch(rubric(3))
    advance(run)
    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    assert (scene.asked("judge"), scene.asked("producer")) == (2, 1)
    run_retry(run=run)
    advance(run)
    assert (run.outcome, run.stop_reason, run.rounds_judged) == ("FAIL", "max_rounds", 3)
    assert (scene.asked("judge"), scene.asked("producer")) == (4, 2)
    assert (run.calls_made, run.failure_role, run.failure_message) == (6, "", "")
    assert [float(value) for value in run.rounds.values_list("composite", flat=True)] == [5, 6, 7]
    assert kinds(run).count("stopped") == 2


def test_a_producer_that_failed_is_asked_again(scene: Scene):
    scene.says(5.0, 6.0)
    scene.server.faults = [Fault("status", nth=(1,), role="producer", status=401)]
    run = scene.launch(rubric(2))
    advance(run)
    assert (run.outcome, run.stop_reason) == ("ERROR", "producer_failed")
    run_retry(run=run)
    advance(run)
    assert (run.outcome, run.rounds_judged, scene.asked("judge"), scene.asked("producer")) == (
        "FAIL",
        2,
        2,
        2,
    )


def test_after_a_judge_that_could_not_be_read_three_times(scene: Scene):
    scene.says(5.0, "one", "two", "three", "four", 6.0)
    run = scene.launch(rubric(2))
    advance(run)
    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    assert (scene.asked("judge"), scene.asked("producer")) == (4, 1)
    run_retry(run=run)
    advance(run)
    assert (run.outcome, run.stop_reason, run.rounds_judged) == ("FAIL", "max_rounds", 2)
    assert (scene.asked("judge"), scene.asked("producer")) == (6, 1)
    judged = run.calls.filter(role="judge", round_number=2)
    assert list(judged.values_list("attempt", "reply")[:4]) == [
        (1, "one"),
        (2, "two"),
        (3, "three"),
        (4, "four"),
    ]
    lengths = [len(entry.body["messages"]) for entry in scene.server.chats if entry.role == "judge"]
    assert lengths == [2, 2, 4, 6, 2, 4], "the retry asks afresh, and complains of its own replies alone"


def test_the_three_tries_of_a_faulty_server_are_given_anew(scene: Scene):
    scene.says(6.0)
    scene.server.faults = [Fault("status", nth=(1, 2, 3, 4))]
    run = scene.launch(rubric(1))
    for _ in range(3):
        advance(run, 1)
        now_due(run)
    advance(run)
    assert (run.outcome, run.calls_made) == ("ERROR", 3)
    run_retry(run=run)
    advance(run, 1)
    assert (run.status, run.step_failures) == ("waiting", 1)
    now_due(run)
    advance(run)
    assert (run.outcome, run.calls_made, run.rounds_judged) == ("FAIL", 5, 1)
    assert list(run.calls.order_by("id").values_list("attempt", flat=True)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(("calls", "judged", "written"), [(1, 1, 1), (2, 1, 2), (3, 2, 2), (4, 2, 3)])
def test_a_budget_of_calls_is_kept_to_the_call(scene: Scene, calls: int, judged: int, written: int):
    scene.says(5.0, 6.0, 7.0)
    run = scene.launch(rubric(3, **{"budget.calls": str(calls)}))
    advance(run)
    assert (run.outcome, run.stop_reason) == ("FAIL", "budget_calls")
    assert run.calls_made == scene.asked() == calls
    assert (run.rounds_judged, run.rounds.count()) == (judged, written)


def test_asking_a_judge_again_is_paid_from_the_budget(scene: Scene):
    scene.says("one", "two", 5.0)
    run = scene.launch(rubric(3, **{"budget.calls": "2"}))
    advance(run)
    assert (run.stop_reason, scene.asked(), run.rounds_judged) == ("budget_calls", 2, 0)
    assert run.rounds.get().composite is None


def test_so_is_a_call_without_a_reply(scene: Scene):
    scene.says(5.0)
    scene.server.faults = [Fault("status", status=503)]
    run = scene.launch(rubric(3, **{"budget.calls": "2"}))
    for _ in range(4):
        advance(run)
        now_due(run)
    assert (run.status, run.stop_reason, scene.asked()) == ("finished", "budget_calls", 2)
