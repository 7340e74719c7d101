"""A worker on Redis that stops gives back what it has fetched, all of it."""

import threading

import dramatiq
import pytest
import redis
from dramatiq.brokers.redis import _scripts
from dramatiq.errors import ConnectionClosed

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
