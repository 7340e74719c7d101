"""Fixtures that run each broker test on real SQLite and PostgreSQL databases."""

import os

import pytest
from django.db import connections
from dramatiq import Worker

from refinement.broker.database import DatabaseBroker
from refinement.models import QueuedMessage
from wiggum_site.broker import middleware

POSTGRES = os.environ.get("WIGGUM_TEST_POSTGRES", "postgres://root@127.0.0.1/test")


@pytest.fixture(params=[pytest.param("sqlite", marks=pytest.mark.django_db(transaction=True)), "postgres"])
def alias(request, django_db_blocker):
    """The alias of the database under test, without messages."""
    if request.param == "sqlite":
        yield "default"
        return
    # Django's test cases do not know this database, so it is opened and emptied here.
    name = request.getfixturevalue("postgres_database")
    with django_db_blocker.unblock():
        QueuedMessage.objects.using(name).all().delete()
        yield name
        connections[name].close()


@pytest.fixture
def new_broker(alias):
    """Creates brokers, each as a separate process would have it."""
    return lambda: DatabaseBroker(middleware=middleware(), alias=alias)


@pytest.fixture
def broker(new_broker):
    broker = new_broker()
    broker.declare_queue("default")
    return broker


@pytest.fixture
def work(alias):
    """Starts workers on a broker, and stops them all at the end."""
    workers = []

    def start(broker, threads=2):
        worker = Worker(broker, worker_threads=threads, worker_timeout=100)
        worker.queue_prefetch = threads
        broker.emit_after("process_boot")
        worker.start()
        workers.append(worker)
        return worker

    yield start
    for worker in workers:
        worker.stop(timeout=5_000)
