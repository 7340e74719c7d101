"""`deliver_webhook` over Redis and RabbitMQ: sent by the service, received by Dramatiq's worker."""

import dramatiq
import pytest
from dramatiq import Worker

from refinement import actors
from refinement.services.webhooks.hooks import webhook_ping
from tests.execution.durability.services import broker_url, missing
from wiggum_site.broker import broker_build

PATIENCE_MS = 20_000
QUEUE = "webhooks-tried"
SIZES = ("postgres+redis", "postgres+rabbitmq")


@pytest.fixture(params=SIZES)
def broker(request, monkeypatch):
    """The broker of a fleet, empty, with the product's own actor on it."""
    if words := missing(request.param):
        pytest.skip(words)
    # Neither the Redis database nor the queue that instances under test use.
    url = broker_url(request.param).replace("/11", "/13")
    broker = broker_build(url)
    own = actors.deliver_webhook
    actor = dramatiq.actor(
        own.fn, actor_name=own.actor_name, queue_name=QUEUE, broker=broker, priority=own.priority,
        **own.options,
    )  # fmt: skip
    monkeypatch.setattr(actors, "deliver_webhook", actor)
    yield broker
    broker.flush(QUEUE)
    broker.close()


@pytest.mark.django_db(transaction=True)
def test_a_message_comes_by_any_broker(broker, hook, owner, receiver):
    worker = Worker(broker, worker_threads=1, worker_timeout=100)
    worker.start()
    try:
        delivery = webhook_ping(webhook=hook, by=owner)
        broker.join(QUEUE, timeout=PATIENCE_MS)
        worker.join()
    finally:
        worker.stop()
    delivery.refresh_from_db()
    assert (delivery.status, delivery.tries) == ("delivered", 1)
    (got,) = receiver.received
    assert got.headers["Wiggum-Delivery"] == str(delivery.key)
