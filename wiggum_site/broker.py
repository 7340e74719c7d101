"""The message broker that the settings ask for, with every middleware named."""

from urllib.parse import urlsplit

import dramatiq
from django.conf import settings
from django.db import DatabaseError
from dramatiq.middleware import (
    CurrentMessage,
    Middleware,
    Retries,
    Shutdown,
    SkipMessage,
    TimeLimit,
)
from dramatiq.middleware.threading import raise_thread_exception

from refinement.broker.database import DatabaseBroker
from refinement.broker.interrupting import (
    interrupt_all,
    is_stopping,
    work_begins,
    work_is_done,
    worker_starts,
)
from wiggum_site.freshness import close_stale_connections

CONNECT_SECONDS = 2.0
# Redis notices a killed worker by its missing heartbeat; the defaults leave its messages stuck for minutes.
REDIS_HEARTBEAT_MS = 15_000
REDIS_MAINTENANCE_CHANCE = 1_000_000  # of a million: with every look, four a second where all are idle
PASS_ON_DELAY_MS = 1_000  # longer than an idle thread of a stopping worker goes on listening


class FreshConnections(Middleware):
    """Closes database connections that are broken or too old, before and after each message."""

    def before_process_message(self, broker: dramatiq.Broker, message: dramatiq.MessageProxy) -> None:
        close_stale_connections()

    def after_process_message(
        self,
        broker: dramatiq.Broker,
        message: dramatiq.MessageProxy,
        *,
        result: object | None = None,
        exception: BaseException | None = None,
    ) -> None:
        close_stale_connections(listen=False)

    def after_skip_message(self, broker: dramatiq.Broker, message: dramatiq.MessageProxy) -> None:
        close_stale_connections(listen=False)


class Stopping(Middleware):
    """Interrupts the steps of a worker that stops, and has it pass on what still reaches its idle threads.

    Dramatiq's own notifications leave out threads that take a message up while the others are told:
    a stopping worker would so begin again with the very runs that it has just let go of.
    """

    @property
    def actor_options(self) -> set[str]:
        return {"notify_shutdown"}  # False for an actor that is to be let finish

    def after_process_boot(self, broker: dramatiq.Broker) -> None:
        worker_starts()

    def before_worker_shutdown(self, broker: dramatiq.Broker, worker: dramatiq.Worker) -> None:
        interrupt_all(lambda thread_id: raise_thread_exception(thread_id, Shutdown))

    def after_worker_shutdown(self, broker: dramatiq.Broker, worker: dramatiq.Worker) -> None:
        worker_starts()  # another one may, in the same process

    def before_process_message(self, broker: dramatiq.Broker, message: dramatiq.MessageProxy) -> None:
        interruptible = broker.get_actor(message.actor_name).options.get("notify_shutdown", True)
        may_begin = work_begins() if interruptible else not is_stopping()
        if not may_begin:
            # Sent before the first one is acknowledged: whatever happens in between, it is not lost.
            broker.enqueue(message.copy(), delay=PASS_ON_DELAY_MS)
            raise SkipMessage("the worker stops")

    def after_process_message(
        self,
        broker: dramatiq.Broker,
        message: dramatiq.MessageProxy,
        *,
        result: object | None = None,
        exception: BaseException | None = None,
    ) -> None:
        work_is_done()

    def after_skip_message(self, broker: dramatiq.Broker, message: dramatiq.MessageProxy) -> None:
        work_is_done()


def middleware() -> list[Middleware]:
    """All middleware of a broker, outermost first."""
    return [
        FreshConnections(),
        TimeLimit(),
        Stopping(),
        Retries(),
        CurrentMessage(),
    ]


def broker_build(url: str) -> dramatiq.Broker:
    """The broker at an address that the settings have checked."""
    scheme = urlsplit(url).scheme
    if scheme == "database":
        return DatabaseBroker(middleware=middleware())
    # The servers' libraries are imported where they are used: a small instance does without their memory.
    if scheme in ("redis", "rediss"):
        from refinement.broker.redis import PromptRedisBroker

        return PromptRedisBroker(  # type: ignore[no-untyped-call]
            url=url,
            middleware=middleware(),
            heartbeat_timeout=REDIS_HEARTBEAT_MS,
            maintenance_chance=REDIS_MAINTENANCE_CHANCE,
        )
    from dramatiq.brokers.rabbitmq import RabbitmqBroker

    return RabbitmqBroker(url=url, middleware=middleware(), confirm_delivery=True)


def broker_problem() -> str | None:
    """Why the broker cannot be used now, in a few words without secrets; None when it answers."""
    scheme = urlsplit(settings.BROKER_URL).scheme
    if scheme == "database":
        return database_problem()
    return redis_problem() if scheme in ("redis", "rediss") else rabbitmq_problem()


def database_problem() -> str | None:
    from refinement.models import QueuedMessage

    try:
        QueuedMessage.objects.exists()
    except DatabaseError:
        return "the database does not answer"
    return None


def redis_problem() -> str | None:
    import redis

    try:
        with redis.Redis.from_url(
            settings.BROKER_URL, socket_connect_timeout=CONNECT_SECONDS, socket_timeout=CONNECT_SECONDS
        ) as client:
            client.ping()
    except (redis.RedisError, OSError):
        return "Redis does not answer"
    return None


def rabbitmq_problem() -> str | None:
    import pika

    parameters = pika.URLParameters(settings.BROKER_URL)
    parameters.socket_timeout = CONNECT_SECONDS
    parameters.stack_timeout = CONNECT_SECONDS
    parameters.connection_attempts = 1
    try:
        pika.BlockingConnection(parameters).close()
    except (pika.exceptions.AMQPError, OSError):
        return "RabbitMQ does not answer"
    return None


broker = broker_build(settings.BROKER_URL)
dramatiq.set_broker(broker)
