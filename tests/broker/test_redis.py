"""Dramatiq's broker on Redis, with frequent maintenance."""

import time
from queue import Queue
from threading import Thread
from typing import Any

import dramatiq
import pytest
import redis

from refinement.broker.redis import PromptRedisBroker
from tests.execution.durability.services import REDIS_HERE as USED_BY_INSTANCES

REDIS_HERE = USED_BY_INSTANCES.rsplit("/", 1)[0] + "/12"  # a database that nothing else uses


@pytest.fixture
def broker():
    """A broker on a Redis database without any message."""
    with redis.Redis.from_url(REDIS_HERE) as client:
        try:
            client.flushdb()
        except redis.ConnectionError:
            pytest.skip(f"no Redis server answers at {REDIS_HERE}")
        broker = PromptRedisBroker(url=REDIS_HERE, maintenance_chance=1_000_000)
        broker.declare_queue("runs")
        yield broker
        broker.close()
        client.flushdb()


def a_message(number):
    return dramatiq.Message("runs", "advance_run", (number,), {}, {})


def test_an_idle_consumer_looks_again_soon(broker):
    consumer = broker.consume("runs", prefetch=1, timeout=600_000)
    began = time.monotonic()
    assert next(consumer) is None
    assert time.monotonic() - began < 60
    broker.enqueue(a_message(7))
    assert next(consumer).args == (7,)


def test_a_message_or_a_free_place_of_this_process_ends_the_pause(broker, monkeypatch):
    monkeypatch.setattr("refinement.broker.redis.IDLE_MILLISECONDS", 600_000)
    consumer = broker.consume("runs", prefetch=1, timeout=600_000)
    got: Queue[Any] = Queue()
    thread = Thread(target=lambda: [got.put(next(filter(None, consumer))) for _ in range(3)], daemon=True)
    thread.start()
    broker.enqueue(a_message(1))
    first = got.get(timeout=60)
    broker.enqueue(a_message(2))  # there is no room for it yet
    consumer.ack(first)
    second = got.get(timeout=60)
    consumer.nack(second)
    broker.enqueue(a_message(3))
    assert got.get(timeout=60).args == (3,)


def test_no_more_is_fetched_than_there_is_room_for(broker):
    for number in range(3):
        broker.enqueue(a_message(number))
    consumer = broker.consume("runs", prefetch=1, timeout=10)
    first = next(consumer)
    assert next(consumer) is None
    consumer.ack(first)
    assert next(consumer).args == (1,)


def test_what_a_lost_worker_held_goes_to_another(broker):
    sent = broker.enqueue(a_message(1))
    assert next(broker.consume("runs", prefetch=1, timeout=10)).message_id == sent.message_id
    broker.client.zadd(f"{broker.namespace}:__heartbeats__", {broker.broker_id: 1})
    rescuer = PromptRedisBroker(url=REDIS_HERE, maintenance_chance=1_000_000)
    rescuer.declare_queue("runs")
    assert next(rescuer.consume("runs", prefetch=1, timeout=10)).message_id == sent.message_id
    rescuer.close()
