"""A worker on Redis that stops gives back what it has fetched, all of it."""

import threading

import dramatiq
import pytest
import redis
from dramatiq.brokers.redis import _scripts
from dramatiq.errors import ConnectionClosed
from dramatiq.middleware import CurrentMessage

from refinement.broker import redis as redis_broker
from refinement.broker.redis import ConsiderateRedisBroker
from tests.durability.services import REDIS_HERE as USED_BY_INSTANCES

REDIS_HERE = USED_BY_INSTANCES.rsplit("/", 1)[0] + "/12"  # a database that nothing else uses


@pytest.fixture
def url():
    """The address of a Redis database without any message."""
    with redis.Redis.from_url(REDIS_HERE) as client:
        try:
            client.flushdb()
        except redis.ConnectionError:
            pytest.skip(f"no Redis server answers at {REDIS_HERE}")
        yield REDIS_HERE
        client.flushdb()


def a_message(number):
    return dramatiq.Message("runs", "advance_run", (number,), {}, {})


def broker_with(url, sent):
    broker = ConsiderateRedisBroker(url=url)
    broker.declare_queue("runs")
    for number in range(sent):
        broker.enqueue(a_message(number))
    return broker


def arguments(consumer):
    found = []
    while (message := next(consumer)) is not None:
        found.append(message.args[0])
    return found


def test_what_was_fetched_and_not_handed_out_goes_back_on_closing(url):
    broker = broker_with(url, sent=3)
    stopping = broker.consume("runs", prefetch=3, timeout=10)
    assert next(stopping).args == (0,)
    stopping.close()
    assert sorted(arguments(broker_with(url, sent=0).consume("runs", prefetch=3, timeout=10))) == [1, 2]


def test_closing_with_nothing_in_hand_changes_nothing(url):
    broker = broker_with(url, sent=1)
    stopping = broker.consume("runs", prefetch=3, timeout=10)
    taken = next(stopping)
    stopping.ack(taken)
    stopping.close()
    assert arguments(broker.consume("runs", prefetch=3, timeout=10)) == []


def test_a_message_of_the_same_process_is_there_at_once(url):
    broker = broker_with(url, sent=0)
    consumer = broker.consume("runs", prefetch=1, timeout=60_000)
    sender = threading.Timer(0.02, lambda: broker.enqueue(a_message(7)))
    sender.start()
    while (message := next(consumer)) is None:
        pass
    sender.join()
    assert message.args == (7,)


def test_a_message_of_a_process_without_consumers_is_there_at_once(url, monkeypatch):
    monkeypatch.setattr(redis_broker, "POLL_SECONDS", 30.0)
    consumer = broker_with(url, sent=0).consume("runs", prefetch=1, timeout=1_000)
    assert next(consumer) is None  # by then, its process listens
    sender = threading.Timer(0.05, lambda: broker_with(url, sent=1))
    sender.start()
    while (message := next(consumer)) is None:
        assert sender.is_alive(), "nobody was told"
    sender.join()
    assert message.args == (0,)


def test_no_more_is_fetched_than_there_is_room_for_and_an_ack_makes_room(url):
    broker = broker_with(url, sent=3)
    consumer = broker.consume("runs", prefetch=1, timeout=10)
    first = next(consumer)
    assert next(consumer) is None
    heard = consumer.bell.rings()
    consumer.ack(first)
    assert consumer.bell.wait(heard, 0), "whoever waits for room is told"
    assert next(consumer).args == (1,)


@pytest.fixture
def at_work(url):
    """A thread that is at work on a message, seen from within: broker, consumer and message."""
    broker = broker_with(url, sent=1)
    consumer = broker.consume("runs", prefetch=2, timeout=10)
    held = next(consumer)
    CurrentMessage._MESSAGE.set(held)
    yield broker, consumer, held
    CurrentMessage._MESSAGE.set(None)


def passed_on(broker):
    message = a_message(0)
    assert broker.pass_on(message)
    return message


def kept(broker):
    """What Redis holds: the messages, those in line, and those in this broker's hands."""
    client, space = broker.client, broker.namespace
    return (
        client.hlen(f"{space}:runs.msgs"),
        client.llen(f"{space}:runs"),
        client.scard(f"{space}:__acks__.{broker.broker_id}.runs"),
    )


def test_a_successor_takes_its_message_s_place(at_work):
    broker, consumer, held = at_work
    sent = passed_on(broker)
    assert kept(broker) == (1, 0, 1)
    consumer.ack(held)
    assert kept(broker) == (1, 0, 1)
    successor = next(consumer)
    assert successor.message_id == sent.message_id != held.message_id
    assert consumer.outstanding_message_count == 1
    consumer.ack(successor)
    assert kept(broker) == (0, 0, 0)
    assert consumer.outstanding_message_count == 0


def test_what_waits_in_redis_goes_first(at_work):
    broker, consumer, held = at_work
    assert broker.may_pass_on(a_message(0))
    broker.enqueue(a_message(7))
    assert not broker.pass_on(a_message(0))
    assert not broker.may_pass_on(a_message(0))  # for a moment
    assert kept(broker) == (2, 1, 1)
    consumer.ack(held)
    assert arguments(consumer) == [7]


def test_who_lost_the_message_passes_nothing_on(at_work):
    broker, _, held = at_work
    broker.client.delete(f"{broker.namespace}:__acks__.{broker.broker_id}.runs")
    assert not broker.pass_on(a_message(0))
    assert kept(broker) == (1, 0, 0)
    assert not held.passed_on


def test_other_work_is_not_passed_on(at_work):
    broker, _, held = at_work
    assert not broker.may_pass_on(a_message(3))
    assert not broker.pass_on(a_message(3))
    assert not held.passed_on


def test_a_closed_consumer_leaves_the_successor_to_others(at_work, url):
    broker, consumer, _ = at_work
    consumer.close()
    passed_on(broker)
    assert kept(broker) == (1, 1, 0)


def test_closing_gives_back_a_successor_that_was_not_handed_out(at_work):
    broker, consumer, held = at_work
    passed_on(broker)
    consumer.ack(held)
    consumer.close()
    assert kept(broker) == (1, 1, 0)


def test_a_step_that_fails_after_passing_on_leaves_its_successor_alone(at_work):
    broker, consumer, held = at_work
    passed_on(broker)
    consumer.nack(held)
    assert kept(broker) == (1, 0, 1)
    assert next(consumer).args == (0,)


def test_a_worker_that_stops_passes_nothing_on(at_work):
    broker, _, _ = at_work
    broker.emit_before("worker_shutdown", None)
    assert not broker.may_pass_on(a_message(0))
    assert not broker.pass_on(a_message(0))


def test_what_a_lost_worker_has_passed_on_goes_to_another(at_work, url):
    broker, _, _ = at_work
    sent = passed_on(broker)
    broker.client.zadd(f"{broker.namespace}:__heartbeats__", {broker.broker_id: 1})
    rescuer = ConsiderateRedisBroker(url=url, maintenance_chance=1_000_000)
    rescuer.declare_queue("runs")
    found = next(rescuer.consume("runs", prefetch=1, timeout=10))
    assert found.message_id == sent.message_id


def test_a_redis_that_went_away_is_said_in_dramatiqs_words(url):
    broker = broker_with(url, sent=0)
    consumer = broker.consume("runs", prefetch=1, timeout=10)
    consumer.message_cache = [a_message(1).copy(options={"redis_message_id": "1"}).encode()]
    broker.client.connection_pool.disconnect()
    broker.client = redis.Redis(port=1)
    broker.scripts = {name: broker.client.register_script(_scripts[name]) for name in broker.scripts}
    with pytest.raises(ConnectionClosed):
        consumer.close()
    with pytest.raises(ConnectionClosed):
        next(consumer)
