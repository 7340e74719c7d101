"""Runs that wait for the evaluator hold no thread, and each gets its turn."""

import threading
from dataclasses import replace

import pytest

from refinement.actors import advance_run, try_evaluator
from refinement.engine.rubrics import LONGEST_EVALUATION
from refinement.engine.types import EvaluationMode, Evaluator, Handover
from refinement.execution.advancing import TURN_SECONDS
from refinement.models import EvaluatorResult, Event, QueuedMessage, Run
from refinement.providers.sandbox import running
from tests.execution.lifecycle.given import Scene, advance, kinds, messages, now_due, rubric, worker_threads
from tests.loopback.replies import valid_replies
from tests.sandboxed import needs_sandbox
from tests.stepping import run_step

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 34


@pytest.fixture
def busy(scene: Scene, settings) -> Scene:
    needs_sandbox()
    settings.COMMANDS = ["sh"]
    scene.server.replies = valid_replies(5.0)
    return scene


def evaluated(script: str):
    """One round, tried by a line of shell."""
    evaluator = Evaluator(("sh", "-c", script), Handover.STDIN)
    return replace(rubric(1), evaluation_mode=EvaluationMode.RUNNABLE, evaluator=evaluator)


@pytest.fixture
def one_place(monkeypatch):
    places = threading.BoundedSemaphore(1)
    monkeypatch.setattr(running, "_slots", places)
    return places


def test_a_run_without_an_evaluator_is_not_held_up_by_many_with_one(busy: Scene):
    slow = [busy.launch(evaluated("sleep 0.5")) for _ in range(MANY)]
    quick = busy.launch(rubric(1))
    finished = Run.objects.filter(status="finished")
    with worker_threads(8):
        busy.server.wait_for(finished.filter(pk=quick.pk).exists)
        evaluators_done = EvaluatorResult.objects.count()
        busy.server.wait_for(lambda: finished.count() == MANY + 1, 90)
    assert evaluators_done < MANY / 2
    assert EvaluatorResult.objects.count() == MANY
    assert set(finished.values_list("stop_reason", flat=True)) == {"max_rounds"}
    assert max(kinds(run).count("claimed") for run in slow) < 60


def test_a_run_that_finds_no_place_waits_and_goes_on(busy: Scene, one_place):
    run = busy.launch(evaluated("echo tried"))
    with one_place:
        result = run_step(run.pk)
    assert result is not None
    assert result.reason == "no free slot at the evaluator"
    run.refresh_from_db()
    assert (run.status, run.waiting_for) == ("waiting", "a free slot at the evaluator")
    assert not EvaluatorResult.objects.exists()
    now_due(run)
    advance(run)
    assert run.status == "finished"
    assert EvaluatorResult.objects.get(round__run=run).stdout == "tried\n"


def test_a_place_that_gets_free_is_passed_on_to_the_first_who_waits(busy: Scene, one_place):
    first, second = (busy.launch(evaluated("echo tried")) for _ in range(2))
    with one_place:
        for run in (first, second):
            run_step(run.pk)
    waiting = [messages(run) for run in (first, second)]
    third = busy.launch(evaluated("echo tried"))
    advance(third)
    assert [messages(run) for run in (first, second)] == [waiting[0] + 1, waiting[1]]


def test_a_message_that_is_delivered_again_finds_the_lease_held(busy: Scene):
    """As by RabbitMQ, which takes a message back that is not acknowledged for half an hour."""
    run = busy.launch(evaluated("sleep 2; echo measured"))
    begun = Event.objects.filter(run=run, kind="evaluating")
    finished = Run.objects.filter(pk=run.pk, status="finished")
    with worker_threads(3):
        busy.server.wait_for(begun.exists)
        held = Run.objects.get(pk=run.pk)
        for _ in range(2):
            advance_run.send(run.pk)
        busy.server.wait_for(lambda: not QueuedMessage.objects.filter(state="queued").exists())
        assert not finished.exists()
        busy.server.wait_for(finished.exists)
        busy.server.wait_for(lambda: not QueuedMessage.objects.exclude(state="dead").exists())
    assert (begun.count(), held.crashes, finished.get().crashes) == (1, 0, 0)
    assert EvaluatorResult.objects.get(round__run=run).stdout == "measured\n"
    assert not QueuedMessage.objects.exists()


def test_the_limits_of_messages_leave_room_for_an_hour():
    assert advance_run.options["time_limit"] > (LONGEST_EVALUATION + TURN_SECONDS) * 1_000
    assert try_evaluator.options["time_limit"] > LONGEST_EVALUATION * 1_000
