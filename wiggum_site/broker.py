"""The message broker from the settings, and its middleware."""

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
# A killed worker is detected by its missing heartbeat; with the defaults, its messages are stuck for minutes.
REDIS_HEARTBEAT_MS = 15_000
REDIS_MAINTENANCE_CHANCE = 1_000_000  # out of a million: on every poll, four a second if all are idle
PASS_ON_DELAY_MS = 1_000  # longer than an idle thread of a stopping worker polls


class FreshConnections(Middleware):
    """Closes broken and old database connections before and after each message."""

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
    """Interrupts the steps of a stopping worker, and requeues messages that its idle threads still get.

    Dramatiq's shutdown notifications miss threads that take a message while others are being notified. A
    stopping worker would then start the same runs again that it has just released.
    """

    @property
    def actor_options(self) -> set[str]:
        return {"notify_shutdown"}  # False for an actor that must finish

    def after_process_boot(self, broker: dramatiq.Broker) -> None:
        worker_starts()

    def before_worker_shutdown(self, broker: dramatiq.Broker, worker: dramatiq.Worker) -> None:
        interrupt_all(lambda thread_id: raise_thread_exception(thread_id, Shutdown))

    def after_worker_shutdown(self, broker: dramatiq.Broker, worker: dramatiq.Worker) -> None:
        worker_starts()  # another worker may start in this process

    def before_process_message(self, broker: dramatiq.Broker, message: dramatiq.MessageProxy) -> None:
        interruptible = broker.get_actor(message.actor_name).options.get("notify_shutdown", True)
        may_begin = work_begins() if interruptible else not is_stopping()
        if not may_begin:
            # Enqueued before the first one is acknowledged, so that it cannot be lost.
            broker.enqueue(message.copy(), delay=PASS_ON_DELAY_MS)
            raise SkipMessage("the worker is stopping")

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
    """The broker for a validated URL."""
    scheme = urlsplit(url).scheme
    if scheme == "database":
        return DatabaseBroker(middleware=middleware())
    # Client libraries are imported on use, to save memory.
    if scheme in ("redis", "rediss"):
        from refinement.broker.redis import PromptRedisBroker

        return PromptRedisBroker(
            url=url,
            middleware=middleware(),
            heartbeat_timeout=REDIS_HEARTBEAT_MS,
            maintenance_chance=REDIS_MAINTENANCE_CHANCE,
        )
    from dramatiq.brokers.rabbitmq import RabbitmqBroker

    return RabbitmqBroker(url=url, middleware=middleware(), confirm_delivery=True)


def broker_problem() -> str | None:
    """Why the broker cannot be used, without secrets, or None."""
    scheme = urlsplit(settings.BROKER_URL).scheme
    if scheme == "database":
        return database_problem()
    return redis_problem() if scheme in ("redis", "rediss") else rabbitmq_problem()


def database_problem() -> str | None:
    from refinement.models import QueuedMessage

    try:
        QueuedMessage.objects.exists()
    except DatabaseError:
        return "the database does not respond"
    return None


def redis_problem() -> str | None:
    import redis

    try:
        with redis.Redis.from_url(
            settings.BROKER_URL, socket_connect_timeout=CONNECT_SECONDS, socket_timeout=CONNECT_SECONDS
        ) as client:
            client.ping()
    except (redis.RedisError, OSError):
        return "Redis does not respond"
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
        return "RabbitMQ does not respond"
    return None


broker = broker_build(settings.BROKER_URL)
dramatiq.set_broker(broker)
