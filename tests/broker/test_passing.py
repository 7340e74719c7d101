"""A step's successor takes its message's place in the same process, unless others wait, and is never lost."""

import threading
from datetime import timedelta

import dramatiq
import pytest
from django.db import transaction
from django.utils import timezone
from dramatiq import Message
from dramatiq.middleware import CurrentMessage

from refinement.broker import rows
from refinement.models import QueuedMessage

PATIENCE = 20


def declare(broker, function, **options):
    return dramatiq.actor(function, broker=broker, actor_name=function.__name__, **options)


@pytest.fixture
def claims(monkeypatch):
    """How many messages each claim has brought."""
    brought, claim = [], rows.claim

    def counted(*args):
        found = claim(*args)
        brought.append(len(found))
        return found

    monkeypatch.setattr(rows, "claim", counted)
    return brought


def a_message(number=0):
    return Message(queue_name="default", actor_name="act", args=(number,), kwargs={}, options={})


@pytest.fixture
def at_work(broker):
    """A thread that is at work on a message, seen from within: its consumer, and the message."""
    declare(broker, lambda number: None).fn.__name__ = "act"
    broker.enqueue(a_message())
    consumer = broker.consume("default", prefetch=1, timeout=0)
    held = next(consumer)
    CurrentMessage._MESSAGE.set(held)
    yield consumer, held
    CurrentMessage._MESSAGE.set(None)


def go_on(broker, actor, *args):
    """As a step does: in this process where nobody waits, else by a message that stands in line."""
    if not broker.pass_on(actor.message(*args)):
        actor.send(*args)


def passed_on(broker):
    message = a_message()
    assert broker.pass_on(message)
    return message


def the_row(alias):
    return QueuedMessage.objects.using(alias).get()


def test_a_run_of_many_steps_is_claimed_once(broker, work, alias, claims):
    seen, over = [], threading.Event()

    def step(left):
        seen.append(CurrentMessage.get_current_message().message_id)
        if len(seen) == 6:
            over.set()
            return
        with transaction.atomic(using=alias):
            go_on(broker, actor, left)

    actor = declare(broker, step)
    work(broker)
    actor.send(1)
    assert over.wait(PATIENCE)
    broker.join("default", timeout=PATIENCE * 1000)
    assert len(set(seen)) == 6  # each step had a message of its own
    assert sum(claims) == 1
    assert not QueuedMessage.objects.using(alias).exists()
    assert broker.claims.count() == 0


def test_what_waits_goes_first(broker, work, alias):
    """One thread, two runs: neither starves the other."""
    order, both = [], threading.Event()

    def step(name):
        both.wait(PATIENCE)
        order.append(name)
        if order.count(name) < 4:
            with transaction.atomic(using=alias):
                go_on(broker, actor, name)

    actor = declare(broker, step)
    work(broker, threads=1)
    actor.send("a")
    actor.send("b")
    both.set()
    broker.join("default", timeout=PATIENCE * 1000)
    assert order == ["a", "b"] * 4


def test_what_is_passed_on_is_held_under_a_fresh_lease(broker, at_work, alias):
    consumer, held = at_work
    QueuedMessage.objects.using(alias).update(lease_until=timezone.now() + timedelta(seconds=1), requeues=3)
    sent = passed_on(broker)
    row = the_row(alias)
    assert (row.state, row.message_id, row.requeues) == ("claimed", sent.message_id, 0)
    assert row.lease_until > timezone.now() + rows.LEASE / 2
    consumer.ack(held)
    assert the_row(alias).state == "claimed"
    successor = next(consumer)
    assert successor.message_id == sent.message_id
    consumer.ack(successor)
    assert not QueuedMessage.objects.using(alias).exists()


def test_what_is_rolled_back_was_not_passed_on(broker, at_work, alias):
    consumer, held = at_work
    with transaction.atomic(using=alias):
        assert broker.pass_on(a_message())
        transaction.set_rollback(True, using=alias)
    assert the_row(alias).message_id == held.message_id
    assert next(consumer) is None
    consumer.ack(held)
    assert not QueuedMessage.objects.using(alias).exists()


def test_other_work_is_not_passed_on(broker, at_work, alias):
    _, held = at_work
    assert not broker.pass_on(a_message(7))
    assert the_row(alias).message_id == held.message_id


def test_who_is_at_no_work_passes_nothing_on(broker):
    broker.consume("default", timeout=0)
    assert not broker.pass_on(a_message())


def test_a_second_successor_does_not_replace_the_first(broker, at_work, alias):
    first = a_message()
    with transaction.atomic(using=alias):
        assert broker.pass_on(first)
        assert not broker.pass_on(a_message())
    assert not broker.pass_on(a_message())
    assert the_row(alias).message_id == first.message_id


def test_who_lost_the_message_passes_nothing_on(broker, at_work, alias):
    _, held = at_work
    QueuedMessage.objects.using(alias).update(lease_owner="somebody else")
    assert not broker.pass_on(a_message())
    assert the_row(alias).message_id == held.message_id


def test_nothing_is_passed_on_while_somebody_waits(broker, at_work, alias):
    broker.enqueue(a_message(7))
    assert not broker.pass_on(a_message())


def test_what_is_not_due_yet_keeps_nobody_waiting(broker, at_work, alias):
    broker.enqueue(a_message(7), delay=60_000)
    assert broker.pass_on(a_message())


def test_a_step_that_fails_after_it_has_passed_on_leaves_its_successor_alone(broker, at_work, alias):
    consumer, held = at_work
    passed_on(broker)
    consumer.nack(held)
    assert the_row(alias).state == "claimed"
    assert next(consumer) is not None


def test_a_consumer_that_has_closed_gives_the_successor_to_others(broker, at_work, alias):
    consumer, _ = at_work
    consumer.close()
    passed_on(broker)
    assert the_row(alias).state == "queued"
    assert broker.claims.count() == 0


def test_a_worker_that_stops_keeps_no_successor(broker, at_work, alias):
    broker.emit_before("worker_shutdown", None)
    assert not broker.pass_on(a_message())
    broker.emit_before("worker_boot", None)
    assert broker.pass_on(a_message())


def test_what_a_lost_process_has_passed_on_goes_to_another(broker, new_broker, at_work, alias):
    sent = passed_on(broker)
    QueuedMessage.objects.using(alias).update(lease_until=timezone.now() - timedelta(seconds=1))
    rescuer = new_broker()
    rescuer.declare_queue("default")
    found = next(rescuer.consume("default", timeout=0))
    assert found.message_id == sent.message_id
