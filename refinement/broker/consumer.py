"""The consumer: claims due messages with a lease, and renews it while they are processed."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from time import monotonic

from django.db import InterfaceError, OperationalError, close_old_connections, connections
from django.utils import timezone
from dramatiq import Consumer, Message, MessageProxy
from dramatiq.errors import ConnectionClosed, DecodeError
from dramatiq.logging import get_logger

from refinement.broker import rows
from refinement.broker.bell import Wakeups
from refinement.broker.doorbell import wake_socket_for
from refinement.broker.interrupting import is_stopping
from refinement.models.system.queue import QueuedMessage

POLL_SECONDS = 0.25
FAST_POLL_SECONDS = 0.03  # on SQLite without a wake socket
LONGEST_PAUSE_SECONDS = 1.0  # query at least this often, even if nothing seems to have changed
UPKEEP_SECONDS = rows.LEASE.total_seconds() / 3
SWEEP_SECONDS = 3600.0


class Claims:
    """A thread-safe set of claimed row ids."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ids: set[int] = set()

    def add(self, ids: Iterable[int]) -> None:
        with self._lock:
            self._ids.update(ids)

    def drop(self, ids: Iterable[int]) -> None:
        with self._lock:
            self._ids.difference_update(ids)

    def count(self) -> int:
        return len(self._ids)

    def all(self) -> list[int]:
        with self._lock:
            return list(self._ids)


class ClaimedMessage(MessageProxy):
    """A message with the id of its row."""

    def __init__(self, message: Message[object], row_id: int) -> None:
        super().__init__(message)
        self.row_id = row_id


@contextmanager
def connection_errors(alias: str) -> Iterator[None]:
    """Turn database connection errors into Dramatiq's ConnectionClosed, which it retries."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        connections[alias].close()
        raise ConnectionClosed(error) from None


class DatabaseConsumer(Consumer):
    """Iterates over one queue. Yields None if there is no message within the timeout."""

    def __init__(
        self,
        *,
        alias: str,
        owner: str,
        wakeups: Wakeups,
        claims: Claims,
        queue: str,
        prefetch: int,
        timeout: int,
    ) -> None:
        self.logger = get_logger(__name__, type(self))
        self.alias = alias
        self.owner = owner
        self.wakeups = wakeups
        self.queue = queue
        self.prefetch = prefetch
        self.seconds = timeout / 1000
        self._process_claims = claims  # outlives this consumer, because its messages may still be processed
        self._own_claims = Claims()
        self._ready: deque[ClaimedMessage] = deque()
        self._wake_socket = wake_socket_for(connections[alias], wakeups)
        must_poll = self._wake_socket is None and connections[alias].vendor == "sqlite"
        self._poll = FAST_POLL_SECONDS if must_poll else POLL_SECONDS
        self._seen_wakeups = -1  # the wake-up count of the last query
        self._seen_change: object | None = None
        self._next_due: datetime | None = None
        self._queried_at = self._maintained_at = self._swept_at = float("-inf")

    def __next__(self) -> MessageProxy | None:
        with connection_errors(self.alias):
            return self._next(monotonic() + self.seconds)

    def _next(self, deadline: float) -> MessageProxy | None:
        while True:
            self._maintain()
            if not self._ready:
                wakeups = self.wakeups.count()
                woken, self._seen_wakeups = wakeups != self._seen_wakeups, wakeups
                self._fetch(woken=woken)
            if self._ready:
                return self._ready.popleft()
            remaining = deadline - monotonic()
            if remaining <= 0:
                return None
            self.wakeups.wait(self._seen_wakeups, min(remaining, self._poll))

    def _fetch(self, *, woken: bool) -> None:
        free = self.prefetch - self._own_claims.count()
        if free <= 0 or not (woken or self._may_have_messages()):
            return
        self._queried_at = monotonic()
        self._seen_change = rows.change_counter(self.alias)
        # After a wake-up there is a message, so claim directly instead of querying first.
        if not woken and not self._something_due():
            return
        claimed = rows.claim(self.alias, self.queue, self.owner, free)
        for row in claimed:
            self._take(row)
        # Messages delayed by this process wake it too early; note when the next one is due.
        if not claimed:
            self._something_due()

    def _something_due(self) -> bool:
        self._next_due = rows.next_due(self.alias, self.queue)
        return self._next_due is not None and self._next_due <= timezone.now()

    def _may_have_messages(self) -> bool:
        if self._next_due is not None and self._next_due <= timezone.now():
            return True
        if monotonic() - self._queried_at >= LONGEST_PAUSE_SECONDS:
            return True
        change = rows.change_counter(self.alias)
        return change is None or change != self._seen_change

    def _take(self, row: QueuedMessage) -> None:
        try:
            message: Message[object] = Message.decode(row.body.encode())
        except (DecodeError, TypeError, ValueError):
            self.logger.error("Message %s on queue %r cannot be decoded; marked as dead.", row.pk, self.queue)
            rows.bury(self.alias, self.owner, row.pk)
            return
        # The row's `eta` has already delayed it; Dramatiq would delay it again.
        message.options.pop("eta", None)
        self._own_claims.add([row.pk])
        self._process_claims.add([row.pk])
        self._ready.append(ClaimedMessage(message, row.pk))

    def _maintain(self) -> None:
        if monotonic() - self._maintained_at < UPKEEP_SECONDS:
            return
        self._maintained_at = monotonic()
        close_old_connections()
        if held := self._process_claims.all():
            rows.renew(self.alias, self.owner, held)
        if recovered := rows.recover(self.alias, self.queue):
            self.logger.warning("Requeued %d messages of lost workers.", recovered)
            self.wakeups.notify()
        if monotonic() - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = monotonic()
            rows.sweep_dead(self.alias)

    def ack(self, message: MessageProxy) -> None:
        self._end(message, rows.finish)

    def nack(self, message: MessageProxy) -> None:
        self._end(message, rows.bury)

    def _end(self, message: MessageProxy, end: Callable[[str, str, int], None]) -> None:
        assert isinstance(message, ClaimedMessage)
        try:
            with connection_errors(self.alias):
                end(self.alias, self.owner, message.row_id)
        except ConnectionClosed:
            # Dramatiq would retry forever. A stopping worker gives up: the message is delivered again, and
            # actors are idempotent.
            if not is_stopping():
                raise
        self._drop([message.row_id])

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        ids = [message.row_id for message in messages if isinstance(message, ClaimedMessage)]
        if not ids:
            return
        with connection_errors(self.alias):
            rows.release(self.alias, self.owner, ids)
        self._drop(ids)
        self.wakeups.notify()

    def close(self) -> None:
        """Release messages that were claimed but not yielded."""
        if self._wake_socket is not None:
            self._wake_socket.close()
        unread, self._ready = list(self._ready), deque()
        try:
            self.requeue(unread)
        except ConnectionClosed:
            self._drop([message.row_id for message in unread])  # their leases expire

    def _drop(self, ids: list[int]) -> None:
        was_full = self._own_claims.count() >= self.prefetch
        self._own_claims.drop(ids)
        self._process_claims.drop(ids)
        if was_full:
            self.wakeups.notify()
