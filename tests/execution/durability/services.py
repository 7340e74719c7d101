"""The services of each size: their addresses, whether they are available, and how to empty their queues."""

import socket
from contextlib import suppress
from urllib.parse import urlsplit, urlunsplit

from benchmarks.instance import AMQP, POSTGRES, REDIS

SIZES = ("sqlite", "postgres", "postgres+redis", "postgres+rabbitmq")
PORTS = {"postgres": 5432, "redis": 6379, "amqp": 5672}
QUEUES = ("runs", "runs.DQ", "runs.XQ")
REDIS_HERE = urlunsplit(urlsplit(REDIS)._replace(path="/11"))  # a database that nothing else uses


def missing(size: str) -> str:
    """Why the size cannot be tested here; empty if its services are available."""
    needed = [POSTGRES] if size.startswith("postgres") else []
    needed += [broker_url(size)] if "+" in size else []
    for url in needed:
        parts = urlsplit(url)
        if not answers(parts.hostname or "127.0.0.1", parts.port or PORTS[parts.scheme]):
            return f"no server answers at {parts.hostname} for {parts.scheme}://"
    return ""


def answers(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), timeout=2):
        return True
    return False


def broker_url(size: str) -> str:
    _, _, broker = size.partition("+")
    return {"": "database://", "redis": REDIS_HERE, "rabbitmq": AMQP}[broker]


def queues_empty(url: str) -> None:
    """Deletes all messages of the broker at this address; database rows are not changed."""
    scheme = urlsplit(url).scheme
    if scheme == "redis":
        import redis

        with redis.Redis.from_url(url) as client:
            client.flushdb()
    elif scheme == "amqp":
        rabbitmq_empty(url)


def rabbitmq_empty(url: str) -> None:
    import pika

    connection = pika.BlockingConnection(pika.URLParameters(url))
    for queue in QUEUES:
        with suppress(pika.exceptions.ChannelClosedByBroker):  # a queue that nobody has declared yet
            connection.channel().queue_purge(queue)
    connection.close()
