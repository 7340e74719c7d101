"""Sending, claiming and finishing: the states of a message's row."""

import threading
from datetime import timedelta
from time import monotonic

import pytest
from django.db import connections, transaction
from django.db.models import F
from django.utils import timezone
from dramatiq import Message
from dramatiq.errors import QueueNotFound

from refinement.broker import consumer as consuming
from refinement.broker import rows
from refinement.models import QueuedMessage


def message(number=0, queue="default", **options):
    return Message(queue_name=queue, actor_name="act", args=(number,), kwargs={}, options=options)


def consume(broker, prefetch=10, timeout=0):
    return broker.consume("default", prefetch=prefetch, timeout=timeout)


def take(consumer, count):
    taken = [next(consumer) for _ in range(count)]
    assert None not in taken
    return taken


def states(alias):
    return sorted(QueuedMessage.objects.using(alias).values_list("state", flat=True))


def expire_leases(alias):
    QueuedMessage.objects.using(alias).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_message_comes_back_as_it_was_sent(broker):
    sent = broker.enqueue(message(7, colour="blue"))
    (got,) = take(consume(broker), 1)
    assert (got.message_id, got.args, got.options) == (sent.message_id, (7,), {"colour": "blue"})


def test_none_says_that_nothing_is_there(broker):
    assert next(consume(broker)) is None


def test_an_acknowledged_message_is_gone(broker, alias):
    broker.enqueue(message())
    consumer = consume(broker)
    (got,) = take(consumer, 1)
    assert states(alias) == ["claimed"]
    consumer.ack(got)
    assert states(alias) == []


def test_a_rejected_message_is_kept_for_a_while(broker, alias):
    broker.enqueue(message())
    consumer = consume(broker)
    consumer.nack(*take(consumer, 1))
    assert states(alias) == ["dead"]
    assert next(consumer) is None
    rows.sweep_dead(alias)
    assert states(alias) == ["dead"]
    QueuedMessage.objects.using(alias).update(updated_at=timezone.now() - rows.DEAD_MESSAGES_KEPT)
    rows.sweep_dead(alias)
    assert states(alias) == []


def test_a_requeued_message_comes_again(broker):
    broker.enqueue(message())
    consumer = consume(broker)
    taken = take(consumer, 1)
    consumer.requeue(taken)
    assert take(consumer, 1)[0].message_id == taken[0].message_id


def test_a_closed_consumer_gives_back_what_it_had_not_handed_out(broker, alias):
    for number in range(3):
        broker.enqueue(message(number))
    consumer = consume(broker)
    take(consumer, 1)
    assert states(alias) == ["claimed"] * 3
    consumer.close()
    assert states(alias) == ["claimed", "queued", "queued"]


def test_no_more_than_the_prefetch_is_claimed(broker, alias):
    for number in range(3):
        broker.enqueue(message(number))
    consumer = consume(broker, prefetch=2)
    first, _ = take(consumer, 2)
    assert next(consumer) is None
    assert states(alias) == ["claimed", "claimed", "queued"]
    consumer.ack(first)
    assert take(consumer, 1)[0].args == (2,)


def test_what_is_rolled_back_was_never_sent(broker, alias):
    with transaction.atomic(using=alias):
        broker.enqueue(message())
        transaction.set_rollback(True, using=alias)
    assert states(alias) == []
    assert broker.wakeups.count() == 0


def test_what_was_sent_elsewhere_is_found_without_a_ring(broker, new_broker):
    consumer = consume(broker)
    assert next(consumer) is None
    elsewhere = new_broker()
    elsewhere.declare_queue("default")
    elsewhere.consuming = True  # else it would ring for whoever is there
    began = monotonic()
    elsewhere.enqueue(message())
    while next(consumer) is None:
        assert monotonic() - began < 60


def test_what_is_sent_is_seen_after_the_commit_and_rings(broker, alias):
    consumer = consume(broker)
    with transaction.atomic(using=alias):
        broker.enqueue(message())
        assert broker.wakeups.count() == 0
    assert broker.wakeups.count() == 1
    take(consumer, 1)


def test_a_delayed_message_waits_for_its_time(broker, alias, monkeypatch):
    monkeypatch.setattr(consuming, "LONGEST_PAUSE_SECONDS", 0.0)
    sent = broker.enqueue(message(1), delay=60_000)
    broker.enqueue(message(2))
    consumer = consume(broker)
    assert take(consumer, 1)[0].args == (2,)
    assert next(consumer) is None
    assert "eta" in sent.options
    QueuedMessage.objects.using(alias).filter(state="queued").update(eta=timezone.now())
    (late,) = take(consumer, 1)
    assert late.args == (1,)
    assert "eta" not in late.options


def test_delayed_messages_come_in_the_order_of_their_times(broker, alias):
    for number, minutes in ((3, 30), (1, 10), (2, 20)):
        broker.enqueue(message(number), delay=minutes * 60_000)
    QueuedMessage.objects.using(alias).update(eta=F("eta") - timedelta(hours=1))
    assert [got.args[0] for got in take(consume(broker), 3)] == [1, 2, 3]


def test_a_delayed_message_comes_while_the_consumer_waits(broker):
    broker.enqueue(message(1), delay=50)
    assert take(consume(broker, timeout=20_000), 1)[0].args == (1,)


def test_the_more_urgent_actor_comes_first(broker):
    from dramatiq import actor

    act = actor(lambda number: None, actor_name="act", broker=broker, priority=10)
    rush = actor(lambda number: None, actor_name="rush", broker=broker, priority=1)
    act.send(1)
    act.send(2)
    rush.send(3)
    assert [got.args[0] for got in take(consume(broker), 3)] == [3, 1, 2]


def test_an_expired_lease_brings_the_message_to_another_consumer(broker, new_broker, alias):
    broker.enqueue(message())
    lost = consume(broker)
    take(lost, 1)
    rescuer = new_broker()
    rescuer.declare_queue("default")
    assert next(consume(rescuer)) is None
    expire_leases(alias)
    other = consume(rescuer)
    (again,) = take(other, 1)
    assert QueuedMessage.objects.using(alias).get().requeues == 1
    other.ack(again)
    assert states(alias) == []


def test_a_consumer_that_lost_its_lease_takes_nothing_from_the_next(broker, new_broker, alias):
    broker.enqueue(message())
    slow = consume(broker)
    (mine,) = take(slow, 1)
    expire_leases(alias)
    rescuer = new_broker()
    rescuer.declare_queue("default")
    take(consume(rescuer), 1)
    slow.ack(mine)
    assert states(alias) == ["claimed"]
    slow.nack(mine)
    slow.requeue([mine])
    assert QueuedMessage.objects.using(alias).get().lease_owner == rescuer.owner


def test_a_lease_is_renewed_while_the_message_is_worked_on(broker, alias, monkeypatch):
    broker.enqueue(message())
    consumer = consume(broker)
    take(consumer, 1)
    expire_leases(alias)
    monkeypatch.setattr(consuming, "UPKEEP_SECONDS", 0)
    assert next(consumer) is None
    assert QueuedMessage.objects.using(alias).get().lease_until > timezone.now() + rows.LEASE / 2
    assert QueuedMessage.objects.using(alias).get().requeues == 0


def test_a_message_that_keeps_taking_workers_down_is_given_up(broker, alias):
    broker.enqueue(message())
    take(consume(broker), 1)
    QueuedMessage.objects.using(alias).update(requeues=rows.MAX_REQUEUES)
    expire_leases(alias)
    assert rows.recover(alias, "default") == 0
    assert states(alias) == ["dead"]


def test_a_message_that_cannot_be_read_is_kept_as_dead(broker, alias):
    QueuedMessage.objects.using(alias).create(queue="default", message_id="x", body="{")
    QueuedMessage.objects.using(alias).create(queue="default", message_id="y", body='{"odd": 1}')
    broker.enqueue(message(5))
    assert take(consume(broker), 1)[0].args == (5,)
    assert states(alias) == ["claimed", "dead", "dead"]


def test_two_consumers_never_get_the_same_message(new_broker, alias):
    brokers = [new_broker() for _ in range(4)]
    for broker in brokers:
        broker.declare_queue("default")
    with transaction.atomic(using=alias):
        for number in range(120):
            brokers[0].enqueue(message(number))
    got, barrier = [], threading.Barrier(len(brokers))

    def drain(broker):
        consumer = broker.consume("default", prefetch=3, timeout=0)
        barrier.wait()
        while (item := next(consumer)) is not None:
            got.append(item.args[0])
            consumer.ack(item)
        connections.close_all()

    threads = [threading.Thread(target=drain, args=(broker,)) for broker in brokers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == len(set(got))
    # A drainer may see nothing for an instant while others hold rows; what is left waits for the next.
    last = consume(brokers[0], prefetch=200)
    while (item := next(last)) is not None:
        got.append(item.args[0])
    assert sorted(got) == list(range(120))


def test_queues_are_kept_apart_and_flushed_apart(broker, alias):
    broker.declare_queue("other")
    broker.enqueue(message(1))
    broker.enqueue(message(2, queue="other"))
    assert take(broker.consume("other", timeout=0), 1)[0].args == (2,)
    broker.flush("default")
    assert QueuedMessage.objects.using(alias).get().queue == "other"
    broker.flush_all()
    assert states(alias) == []


def test_a_queue_that_was_never_declared_is_refused(broker):
    with pytest.raises(QueueNotFound):
        broker.enqueue(message(queue="nowhere"))
    with pytest.raises(QueueNotFound):
        broker.consume("nowhere")
    assert broker.get_declared_queues() == {"default"}
    assert broker.get_declared_delay_queues() == set()
