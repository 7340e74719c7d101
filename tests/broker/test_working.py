"""Dramatiq's own worker on this broker: actors run, retry, run side by side, and stop."""

import threading
import time

import dramatiq
import pytest
from django.db import OperationalError, connections, transaction
from dramatiq.errors import ConnectionClosed, QueueJoinTimeout

from refinement.models import QueuedMessage

PATIENCE = 20


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
    monkeypatch.setattr(consuming, "DEAF_POLL_SECONDS", 3600.0)
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
        broker.passing.before_worker_shutdown(broker, None)
        getattr(consumer, end)(message)
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


def test_a_process_takes_up_what_its_step_sends_before_the_step_is_acknowledged(broker, work):
    """One thread's worth of messages, and one more for a thread that is about to be free."""
    begun, seen, release = threading.Event(), threading.Event(), threading.Event()

    def second():
        """Waits in the hands of this process."""

    def first():
        begun.set()  # from now on, what is in the worker's queue is another one
        then.send()
        seen.wait(PATIENCE)

    then = declare(broker, second)
    actor = declare(broker, first)
    worker = work(broker, threads=1)
    actor.send()
    assert begun.wait(PATIENCE)
    queue = worker.work_queue
    until = time.monotonic() + PATIENCE
    while not queue.qsize() and time.monotonic() < until:
        release.wait(0.01)
    assert queue.qsize() == 1  # claimed, though the only thread is still at its first
    assert broker.finishing.count() == 1
    seen.set()
    broker.join("default", timeout=PATIENCE * 1000)
    assert broker.finishing.count() == 0


def test_what_is_sent_by_nobody_at_work_makes_no_room(broker):
    broker.finishing.sent()
    assert broker.finishing.count() == 0


def test_a_thread_is_not_counted_as_free_twice(broker, monkeypatch):
    """Whoever looks when a message is let go of finds the thread either finishing or free."""
    consumer = broker.consume("default", prefetch=1, timeout=0)
    monkeypatch.setattr(dramatiq.middleware.CurrentMessage, "get_current_message", lambda: object())
    declare(broker, print).send()
    message = next(consumer)
    broker.finishing.sent()
    free = []

    def look():
        free.append(consumer.prefetch - consumer._own_claims.count() + broker.finishing.count())

    monkeypatch.setattr(broker.bell, "ring", look)
    consumer.ack(message)
    assert free == [1]
