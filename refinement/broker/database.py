"""The broker: a sent message becomes a row in the sender's transaction."""

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

from refinement.broker.bell import Wakeups
from refinement.broker.consumer import Claims, DatabaseConsumer
from refinement.broker.doorbell import wake_all, wake_folder
from refinement.models.system.queue import MessageState, QueuedMessage


class DatabaseBroker(Broker):
    """Delayed messages stay in their queue until they are due; there are no delay queues."""

    def __init__(self, *, middleware: list[Middleware] | None = None, alias: str = DEFAULT_DB_ALIAS) -> None:
        super().__init__(middleware=middleware)
        self.alias = alias
        self.queues: set[str] = set()
        self.wakeups = Wakeups()
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
            wakeups=self.wakeups,
            claims=self.claims,
            queue=queue_name,
            prefetch=prefetch,
            timeout=timeout,
        )

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        """Store the message, and wake consumers when the caller's transaction commits."""
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
        transaction.on_commit(self._wake, using=self.alias)
        self.emit_after("enqueue", message, delay)
        return message

    def _wake(self) -> None:
        """Wake the consumers of this process if it has any, or else those of other processes."""
        if self.consuming:
            self.wakeups.notify()
        elif self._wake_folder is not None:
            wake_all(self._wake_folder)

    @cached_property
    def _wake_folder(self) -> Path | None:
        return wake_folder(connections[self.alias])

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
        """Return when the queue has no waiting or claimed messages. Raises QueueJoinTimeout."""
        self._check(queue_name)
        deadline = monotonic() + timeout / 1000 if timeout else None
        unfinished = QueuedMessage.objects.using(self.alias).filter(
            queue=queue_name, state__in=[MessageState.QUEUED, MessageState.CLAIMED]
        )
        while unfinished.exists():
            if deadline and monotonic() >= deadline:
                raise QueueJoinTimeout(queue_name)
            self.wakeups.wait(self.wakeups.count(), interval / 1000)

    def _check(self, queue_name: str) -> None:
        if queue_name not in self.queues:
            raise QueueNotFound(queue_name)
