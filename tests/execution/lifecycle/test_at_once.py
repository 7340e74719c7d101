"""Concurrent requests have one effect, with real threads and connections."""

import threading
from collections.abc import Callable
from functools import partial

import pytest

from refinement.actors import advance_run, broker
from refinement.execution.steps.step import StepResult
from refinement.execution.waking import sweep
from refinement.models import AuditEntry, QueuedMessage, Run
from refinement.services.runs.lifecycle import (
    WrongState,
    run_cancel,
    run_continue,
    run_pause,
    run_resume,
    run_retry,
)
from tests.execution.lifecycle.given import Scene, advance, at_once, kinds, messages, rubric, worker_threads
from tests.stepping import run_step

pytestmark = pytest.mark.django_db(transaction=True)
TIMES = range(6)


def refused(results: list[object]) -> int:
    return sum(isinstance(result, WrongState) for result in results)


def test_a_message_delivered_five_times_at_once_makes_one_step(scene: Scene):
    scene.says(5.0, 6.0)
    others_are_back = threading.Semaphore(0)
    say = scene.server.replies

    def when_the_others_are_back(asked):
        for _ in range(4):
            assert others_are_back.acquire(timeout=60)
        return say(asked)

    scene.server.replies = when_the_others_are_back
    run = scene.launch()

    def delivered() -> StepResult | None:
        result = run_step(run.pk)
        if result is None:
            others_are_back.release()
        return result

    results = at_once(*[delivered] * 5)
    assert results.count(None) == 4
    assert [type(result) for result in results if result is not None] == [StepResult]
    run.refresh_from_db()
    assert (scene.asked(), run.calls_made, run.rounds_judged) == (1, 1, 1)
    assert kinds(run) == ["queued", "claimed", "judged"]


def test_every_message_five_times_over_changes_nothing_in_a_whole_run(scene: Scene):
    scene.says(5.0, 6.0, 7.0)
    run = scene.launch(rubric(3))
    for _ in range(4):
        advance_run.send(run.pk)
    with worker_threads(5):
        scene.server.wait_for(lambda: Run.objects.get(pk=run.pk).status == "finished")
        broker.join("runs", timeout=60_000)
    run.refresh_from_db()
    assert (run.outcome, run.stop_reason, run.rounds_judged) == ("FAIL", "max_rounds", 3)
    assert scene.asked() == run.calls_made == run.calls.count() == 5
    assert kinds(run).count("judged") == 3
    assert kinds(run).count("stopped") == 1


def test_two_sweepers_at_once_send_one_message_a_run(scene: Scene):
    runs = [scene.launch() for _ in range(12)]
    QueuedMessage.objects.all().delete()
    Run.objects.update(woken_at="2000-01-01T00:00Z")
    swept = at_once(sweep, sweep, sweep)
    assert sum(each.sent for each in swept) == len(runs)
    assert [messages(run) for run in runs] == [1] * len(runs)


def test_cancelling_against_the_end_of_a_run(scene: Scene):
    for _ in TIMES:
        scene.says(5.0)
        run = scene.launch(rubric(1))
        advance(run, 1)
        finished, cancelled = at_once(partial(run_step, run.pk), partial(run_cancel, run=run))
        run.refresh_from_db()
        assert run.status == "finished"
        assert run.outcome in ("FAIL", "CANCELLED")
        assert kinds(run).count("stopped") == 1
        assert run.events.get(kind="stopped").data["outcome"] == run.outcome
        was_cancelled = run.outcome == "CANCELLED"
        assert isinstance(cancelled, WrongState) != was_cancelled
        assert AuditEntry.objects.filter(action="run.cancel", object_id=str(run.pk)).count() == was_cancelled
        assert isinstance(finished, StepResult | None)


def said_when_a_reply_begins(scene: Scene) -> threading.Event:
    replying, say = threading.Event(), scene.server.replies

    def said(asked):
        replying.set()
        return say(asked)

    scene.server.replies = said
    return replying


def once(said: threading.Event, change: Callable[..., Run], run: Run) -> Run:
    assert said.wait(60)
    return change(run=run)


@pytest.mark.parametrize("change", [run_cancel, run_pause])
def test_changing_a_run_against_the_writing_of_its_step(scene: Scene, change):
    for _ in TIMES:
        scene.says(5.0, 6.0)
        run = scene.launch()
        replying = said_when_a_reply_begins(scene)
        step, changed = at_once(partial(run_step, run.pk), partial(once, replying, change, run))
        assert isinstance(step, StepResult)
        assert isinstance(changed, Run)
        run.refresh_from_db()
        assert (run.status, run.lease_owner) == ("paused" if change is run_pause else "finished", "")
        judged = 0 if step.lost else 1
        assert run.calls.count() == run.calls_made == run.rounds_judged == judged
        assert run.rounds.filter(judged_at__isnull=False).count() == judged
        assert kinds(run).count("judged") == judged
        assert kinds(run)[-1] == ("paused" if change is run_pause else "stopped")
        assert run_step(run.pk) is None


def test_pause_against_resume(scene: Scene):
    for _ in TIMES:
        run = scene.in_state("queued")
        paused, resumed = at_once(partial(run_pause, run=run), partial(run_resume, run=run))
        assert isinstance(paused, Run)
        run.refresh_from_db()
        if isinstance(resumed, WrongState):
            assert (run.status, kinds(run), messages(run)) == ("paused", ["paused"], 0)
        else:
            assert (run.status, kinds(run), messages(run)) == ("queued", ["paused", "resumed"], 1)


@pytest.mark.parametrize(
    ("change", "state", "event", "sent"),
    [
        (run_cancel, "running", "stopped", 0),
        (run_pause, "running", "paused", 0),
        (run_resume, "paused", "resumed", 1),
        (run_retry, "ERROR", "retried", 1),
        (lambda *, run: run_continue(run=run, rounds=2), "FAIL", "extended", 1),
    ],
    ids=["cancel", "pause", "resume", "retry", "continue"],
)
def test_the_same_change_several_times_at_once_has_one_effect(scene: Scene, change, state, event, sent):
    run = scene.in_state(state)
    results = at_once(*[partial(change, run=run)] * 3)
    assert (refused(results), sum(isinstance(result, Run) for result in results)) == (2, 1)
    assert (kinds(run), messages(run), AuditEntry.objects.count()) == ([event], sent, 1)


def test_cancel_against_retry_leaves_one_end(scene: Scene):
    for _ in TIMES:
        run = scene.in_state("ERROR")
        retried, cancelled = at_once(partial(run_retry, run=run), partial(run_cancel, run=run))
        assert isinstance(retried, Run)
        run.refresh_from_db()
        if isinstance(cancelled, WrongState):
            assert (run.status, run.outcome, kinds(run)) == ("queued", "", ["retried"])
        else:
            assert (run.status, run.outcome, kinds(run)) == ("finished", "CANCELLED", ["retried", "stopped"])


@pytest.mark.parametrize("change", [run_cancel, run_pause])
def test_it_takes_effect_in_mid_generation(scene: Scene, change):
    scene.says(5.0)
    scene.server.chunks, scene.server.chunk_delay = 400, 0.1
    run = scene.launch()

    def change_while_it_writes() -> None:
        scene.server.wait_for(lambda: scene.asked() == 1)
        change(run=run)

    step, problem = at_once(partial(run_step, run.pk), change_while_it_writes)
    assert problem is None
    assert isinstance(step, StepResult)
    assert step.lost
    scene.server.wait_for(lambda: scene.server.chats[0].aborted)
    assert scene.server.chats[0].finished is None
    run.refresh_from_db()
    assert (run.calls.count(), run.rounds_judged) == (0, 0)
    assert run.status == ("paused" if change is run_pause else "finished")
