"""A receiver for all tests of webhooks, webhooks with its address, and a worker's deliveries."""

import json

import pytest

from refinement.execution.deliveries import delivery_send
from refinement.models import QueuedMessage
from refinement.services.webhooks.hooks import HookValues, webhook_create
from refinement.webhooks.networks import PRIVATE
from tests.webhooks.receiver import receiving, status

EVERYTHING = ("run.finished", "run.waiting", "run.asking", "review.asked", "comment.created")


@pytest.fixture(scope="package")
def server():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def receiver(server):
    """The server, reset before each test."""
    server.received.clear()
    server.connections = 0
    server.answer = status(204)
    return server


@pytest.fixture
def allowed(settings):
    """Allows webhooks to private networks, because the receiver is on one."""
    settings.WEBHOOK_NETWORKS = PRIVATE
    settings.SITE_URL = "https://wiggum.example.org"


@pytest.fixture
def made(allowed, project, owner, receiver):
    """A webhook for all events, and its secret."""
    return webhook_create(project=project, by=owner, values=HookValues(receiver.address, EVERYTHING))


@pytest.fixture
def hook(made):
    return made[0]


@pytest.fixture
def work():
    """Handles the queued messages as a worker does; returns how many there were."""

    def done() -> int:
        messages = [json.loads(row.body) for row in QueuedMessage.objects.order_by("id")]
        QueuedMessage.objects.all().delete()
        mine = [message for message in messages if message["actor_name"] == "deliver_webhook"]
        for message in mine:
            delivery_send(*message["args"])
        return len(mine)

    return done
