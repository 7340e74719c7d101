"""The settings choose the broker; Redis and RabbitMQ carry the same actors."""

import os
import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit
from uuid import uuid4

import dramatiq
import pytest
from dramatiq import Worker
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from dramatiq.brokers.redis import RedisBroker

from refinement.broker.database import DatabaseBroker
from wiggum_site import broker as building

SERVERS = {
    "Redis": os.environ.get("WIGGUM_TEST_REDIS", "redis://127.0.0.1:6379/0"),
    "RabbitMQ": os.environ.get("WIGGUM_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672/"),
}
PATIENCE = 60


@pytest.fixture(params=SERVERS)
def server(request):
    """The address of a server that answers."""
    url = SERVERS[request.param]
    parts = urlsplit(url)
    with suppress(OSError), socket.create_connection((parts.hostname, parts.port), timeout=2):
        return url
    pytest.skip(f"no {request.param} server answers at {parts.hostname}:{parts.port}")


def test_the_scheme_chooses_the_broker():
    assert isinstance(building.broker_build("database://"), DatabaseBroker)
    redis = building.broker_build("redis://127.0.0.1:1/0")
    assert isinstance(redis, RedisBroker)
    assert (redis.heartbeat_timeout, redis.maintenance_chance) == (15_000, 1_000_000)
    rabbit = building.broker_build("amqp://127.0.0.1:1/")
    assert isinstance(rabbit, RabbitmqBroker)
    assert rabbit.confirm_delivery


def test_every_middleware_is_named():
    names = [type(each).__name__ for each in building.broker_build("database://").middleware]
    assert names == [
        "FreshConnections",
        "TimeLimit",
        "Stopping",
        "Retries",
        "CurrentMessage",
    ]


def test_a_server_that_answers_has_no_problem(server, settings):
    settings.BROKER_URL = server
    assert building.broker_problem() is None


@pytest.mark.django_db(transaction=True)
def test_a_server_carries_a_message_to_its_actor(server):
    broker = building.broker_build(server)
    queue, done = f"test_{uuid4().hex}", threading.Event()

    @dramatiq.actor(broker=broker, queue_name=queue)
    def wake():
        done.set()

    worker = Worker(broker, worker_threads=2, worker_timeout=100)
    worker.start()
    try:
        wake.send()
        assert done.wait(PATIENCE)
    finally:
        worker.stop(timeout=5_000)
        broker.flush(queue)
        if isinstance(broker, RabbitmqBroker):
            for name in (queue, f"{queue}.DQ", f"{queue}.XQ"):
                broker.channel.queue_delete(name)
        broker.close()
