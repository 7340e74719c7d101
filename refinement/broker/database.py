"""The broker: what is sent becomes a row, in the transaction of whoever sends it."""

import os
import socket
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.utils import timezone
from dramatiq import Broker, Consumer, Message, Middleware
from dramatiq.common import current_millis
from dramatiq.errors import QueueJoinTimeout, QueueNotFound

from refinement.broker.bell import Bell
from refinement.broker.consumer import Claims, DatabaseConsumer
from refinement.broker.doorbell import doors_of, ring_at
from refinement.models.system.queue import MessageState, QueuedMessage


class DatabaseBroker(Broker):
    """Delayed messages wait in their own queue until their time; there are no delay queues."""

    def __init__(self, *, middleware: list[Middleware] | None = None, alias: str = DEFAULT_DB_ALIAS) -> None:
        super().__init__(middleware=middleware)
        self.alias = alias
        self.queues: set[str] = set()
        self.bell = Bell()
        self.claims = Claims()
        self.consuming = False
        self.owner = f"{socket.gethostname()[:20]}:{os.getpid()}:{uuid4().hex}"

    def declare_queue(self, queue_name: str) -> None:
        if queue_name in self.queues:
            return
        self.emit_before("declare_queue", queue_name)
        self.queues.add(queue_name)
        self.emit_after("declare_queue", queue_name)

    def get_declared_queues(self) -> set[str]:
        return self.queues.copy()

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        self._check(queue_name)
        self.consuming = True
        return DatabaseConsumer(
            alias=self.alias,
            owner=self.owner,
            bell=self.bell,
            claims=self.claims,
            queue=queue_name,
            prefetch=prefetch,
            timeout=timeout,
        )

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        """Keeps the message if the caller's transaction commits, and wakes this process's consumers then."""
        self._check(message.queue_name)
        if delay is not None:
            message = message.copy(options={"eta": current_millis() + delay})
        self.emit_before("enqueue", message, delay)
        QueuedMessage.objects.using(self.alias).create(
            queue=message.queue_name,
            message_id=message.message_id,
            body=message.encode().decode(),
            priority=self._priority(message.actor_name),
            eta=timezone.now() + timedelta(milliseconds=delay or 0),
        )
        transaction.on_commit(self._tell, using=self.alias)
        self.emit_after("enqueue", message, delay)
        return message

    def _tell(self) -> None:
        """Wakes who may take it up: this process if it consumes, or else all the others."""
        if self.consuming:
            self.bell.ring()
        elif self._doors is not None:
            ring_at(self._doors)

    @cached_property
    def _doors(self) -> Path | None:
        return doors_of(connections[self.alias])

    def _priority(self, actor_name: str) -> int:
        actor = self.actors.get(actor_name)
        return actor.priority if actor else 0

    def flush(self, queue_name: str) -> None:
        self._check(queue_name)
        QueuedMessage.objects.using(self.alias).filter(queue=queue_name).delete()

    def flush_all(self) -> None:
        for queue_name in self.get_declared_queues():
            self.flush(queue_name)

    def join(self, queue_name: str, *, interval: int = 50, timeout: int | None = None) -> None:
        """Returns when no message of the queue waits or is worked on."""
        self._check(queue_name)
        deadline = monotonic() + timeout / 1000 if timeout else None
        unfinished = QueuedMessage.objects.using(self.alias).filter(
            queue=queue_name, state__in=[MessageState.QUEUED, MessageState.CLAIMED]
        )
        while unfinished.exists():
            if deadline and monotonic() >= deadline:
                raise QueueJoinTimeout(queue_name)
            self.bell.wait(self.bell.rings(), interval / 1000)

    def _check(self, queue_name: str) -> None:
        if queue_name not in self.queues:
            raise QueueNotFound(queue_name)
