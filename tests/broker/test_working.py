"""Dramatiq's worker with this broker: actors run in parallel, retry and stop."""

import threading

import dramatiq
import pytest
from django.db import OperationalError, connections, transaction
from dramatiq.errors import ConnectionClosed, QueueJoinTimeout

from refinement.models import QueuedMessage

PATIENCE = 60


def declare(broker, function, **options):
    return dramatiq.actor(function, broker=broker, actor_name=function.__name__, **options)


def test_what_is_sent_is_done(broker, work, alias):
    done = []

    def note(number):
        done.append(number)

    actor = declare(broker, note)
    work(broker)
    for number in range(20):
        actor.send(number)
    broker.join("default", timeout=PATIENCE * 1000)
    assert sorted(done) == list(range(20))
    assert not QueuedMessage.objects.using(alias).exists()


def test_a_failure_is_tried_again_after_a_pause_and_then_kept_as_dead(broker, work, alias):
    tries = []

    def fail():
        tries.append(1)
        raise ValueError("no luck")

    actor = declare(broker, fail, max_retries=2, min_backoff=10, max_backoff=20)
    work(broker)
    sent = actor.send()
    broker.join("default", timeout=PATIENCE * 1000)
    assert len(tries) == 3
    dead = QueuedMessage.objects.using(alias).get()
    assert (dead.state, dead.message_id) == ("dead", sent.message_id)


def test_as_many_messages_as_threads_are_worked_on_at_once(broker, work):
    together = threading.Barrier(5)

    def meet():
        together.wait(timeout=PATIENCE)

    actor = declare(broker, meet, max_retries=0)
    work(broker, threads=4)
    for _ in range(4):
        actor.send()
    together.wait(timeout=PATIENCE)  # breaks unless all four are there
    broker.join("default", timeout=PATIENCE * 1000)


def test_a_message_of_this_process_wakes_the_consumer_at_once(broker, work, monkeypatch):
    from refinement.broker import consumer as consuming

    monkeypatch.setattr(consuming, "POLL_SECONDS", 3600.0)
    monkeypatch.setattr(consuming, "FAST_POLL_SECONDS", 3600.0)
    done = threading.Event()

    def wake():
        done.set()

    actor = declare(broker, wake)
    work(broker)
    actor.send()
    assert done.wait(timeout=PATIENCE)


def test_a_message_of_another_process_is_noticed(broker, new_broker, work):
    done = threading.Event()

    def wake():
        done.set()

    declare(broker, wake)
    work(broker)
    elsewhere = new_broker()  # its bell is not the one our consumers hear
    sender = declare(elsewhere, wake)
    sender.send()
    assert done.wait(timeout=PATIENCE)


def test_a_stopped_worker_leaves_nothing_claimed(broker, work, alias):
    begun, end = threading.Event(), threading.Event()

    def hold():
        begun.set()
        end.wait(PATIENCE)

    actor = declare(broker, hold, notify_shutdown=False)
    worker = work(broker, threads=1)
    for _ in range(3):
        actor.send()
    assert begun.wait(PATIENCE)
    end.set()
    worker.stop(timeout=PATIENCE * 1000)
    assert not QueuedMessage.objects.using(alias).filter(state="claimed").exists()


def test_waiting_for_an_unfinished_queue_ends(broker):
    def never():
        raise AssertionError

    declare(broker, never).send()
    with pytest.raises(QueueJoinTimeout):
        broker.join("default", timeout=30, interval=5)


def test_a_lost_connection_is_said_in_words_that_dramatiq_retries(broker, alias, monkeypatch):
    consumer = broker.consume("default", timeout=0)

    def broken(*args):
        raise OperationalError("server closed the connection")

    monkeypatch.setattr("refinement.broker.rows.next_due", broken)
    with pytest.raises(ConnectionClosed):
        next(consumer)
    assert connections[alias].connection is None
    monkeypatch.undo()
    assert next(consumer) is None


@pytest.mark.parametrize("end", ["ack", "nack"])
def test_who_stops_does_not_wait_for_a_database_that_is_away(broker, alias, monkeypatch, end):
    declare(broker, lambda: None).send()
    consumer = broker.consume("default", timeout=1000)
    message = next(consumer)
    with monkeypatch.context() as patch:

        def broken(*args):
            raise OperationalError("server closed the connection")

        patch.setattr("refinement.broker.rows.finish", broken)
        patch.setattr("refinement.broker.rows.bury", broken)
        with pytest.raises(ConnectionClosed):
            getattr(consumer, end)(message)  # Dramatiq tries again
        broker.emit_before("worker_shutdown", None)
        getattr(consumer, end)(message)
        broker.emit_after("worker_shutdown", None)
    assert QueuedMessage.objects.using(alias).get().state == "claimed"  # until its lease has run out
    assert not broker.claims.all()


def test_a_message_sent_by_an_actor_joins_its_transaction(broker, work, alias):
    heard = []

    def second(number):
        heard.append(number)

    follow = declare(broker, second)

    def first():
        with transaction.atomic(using=alias):
            follow.send(1)
        try:
            with transaction.atomic(using=alias):
                follow.send(2)
                raise RuntimeError
        except RuntimeError:
            return

    actor = declare(broker, first)
    work(broker)
    actor.send()
    broker.join("default", timeout=PATIENCE * 1000)
    assert heard == [1]
