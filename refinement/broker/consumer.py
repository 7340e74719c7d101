"""A consumer claims due messages under a lease, renews it while they are worked on, and gives it back."""

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
from refinement.broker.bell import Bell
from refinement.broker.doorbell import door_for
from refinement.broker.interrupting import is_stopping
from refinement.models.system.queue import QueuedMessage

POLL_SECONDS = 0.25
DEAF_POLL_SECONDS = 0.03  # on SQLite, for who has no door that others could ring at
BLIND_LOOK_SECONDS = 1.0  # look this often even when nothing seems to have changed
UPKEEP_SECONDS = rows.LEASE.total_seconds() / 3
SWEEP_SECONDS = 3600.0


class Claims:
    """The ids of rows in somebody's hands; safe to use from many threads."""

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
    """A message together with the row that holds it."""

    def __init__(self, message: Message[object], row_id: int) -> None:
        super().__init__(message)
        self.row_id = row_id


@contextmanager
def connection_errors(alias: str) -> Iterator[None]:
    """Says a lost database in Dramatiq's own words, which makes it try again later."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        connections[alias].close()
        raise ConnectionClosed(error) from None


class DatabaseConsumer(Consumer):
    """Iterates over one queue; `None` says that nothing came within the timeout."""

    def __init__(
        self,
        *,
        alias: str,
        owner: str,
        bell: Bell,
        claims: Claims,
        queue: str,
        prefetch: int,
        timeout: int,
    ) -> None:
        self.logger = get_logger(__name__, type(self))
        self.alias = alias
        self.owner = owner
        self.bell = bell
        self.queue = queue
        self.prefetch = prefetch
        self.seconds = timeout / 1000
        self._process_claims = claims  # outlives this consumer, as the work on its messages may
        self._own_claims = Claims()
        self._ready: deque[ClaimedMessage] = deque()
        self._door = door_for(connections[alias], bell)
        deaf = self._door is None and connections[alias].vendor == "sqlite"
        self._poll = DEAF_POLL_SECONDS if deaf else POLL_SECONDS
        self._heard = -1  # the rings when it looked last
        self._seen_change: object | None = None
        self._next_due: datetime | None = None
        self._looked_at = self._kept_up_at = self._swept_at = float("-inf")

    def __next__(self) -> MessageProxy | None:
        with connection_errors(self.alias):
            return self._next(monotonic() + self.seconds)

    def _next(self, deadline: float) -> MessageProxy | None:
        while True:
            self._keep_up()
            if not self._ready:
                rings = self.bell.rings()
                rung, self._heard = rings != self._heard, rings
                self._fetch(rung=rung)
            if self._ready:
                return self._ready.popleft()
            remaining = deadline - monotonic()
            if remaining <= 0:
                return None
            self.bell.wait(self._heard, min(remaining, self._poll))

    def _fetch(self, *, rung: bool) -> None:
        free = self.prefetch - self._own_claims.count()
        if free <= 0 or not (rung or self._worth_a_look()):
            return
        self._looked_at = monotonic()
        self._seen_change = rows.change_counter(self.alias)
        # A ring says that something was sent: claiming at once is cheaper than looking first.
        if not rung and not self._something_due():
            return
        claimed = rows.claim(self.alias, self.queue, self.owner, free)
        for row in claimed:
            self._take(row)
        # What others delay is found by the next look; what this process delays rings, and claims nothing.
        if not claimed:
            self._something_due()

    def _something_due(self) -> bool:
        self._next_due = rows.next_due(self.alias, self.queue)
        return self._next_due is not None and self._next_due <= timezone.now()

    def _worth_a_look(self) -> bool:
        if self._next_due is not None and self._next_due <= timezone.now():
            return True
        if monotonic() - self._looked_at >= BLIND_LOOK_SECONDS:
            return True
        change = rows.change_counter(self.alias)
        return change is None or change != self._seen_change

    def _take(self, row: QueuedMessage) -> None:
        try:
            message: Message[object] = Message.decode(row.body.encode())
        except (DecodeError, TypeError, ValueError):
            self.logger.error(
                "Message %s on queue %r cannot be read; it is kept as dead.", row.pk, self.queue
            )
            rows.bury(self.alias, self.owner, row.pk)
            return
        # The row's own time has kept it back; Dramatiq would keep it back a second time.
        message.options.pop("eta", None)
        self._own_claims.add([row.pk])
        self._process_claims.add([row.pk])
        self._ready.append(ClaimedMessage(message, row.pk))

    def _keep_up(self) -> None:
        if monotonic() - self._kept_up_at < UPKEEP_SECONDS:
            return
        self._kept_up_at = monotonic()
        close_old_connections()
        if held := self._process_claims.all():
            rows.renew(self.alias, self.owner, held)
        if recovered := rows.recover(self.alias, self.queue):
            self.logger.warning("Queued %d messages again whose worker was lost.", recovered)
            self.bell.ring()
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
            # Dramatiq would try for ever. Who stops lets it be: the message comes again, and changes nothing.
            if not is_stopping():
                raise
        self._let_go([message.row_id])

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        ids = [message.row_id for message in messages if isinstance(message, ClaimedMessage)]
        if not ids:
            return
        with connection_errors(self.alias):
            rows.release(self.alias, self.owner, ids)
        self._let_go(ids)
        self.bell.ring()

    def close(self) -> None:
        """Gives back what was claimed but not yet handed out."""
        if self._door is not None:
            self._door.close()
        unread, self._ready = list(self._ready), deque()
        try:
            self.requeue(unread)
        except ConnectionClosed:
            self._let_go([message.row_id for message in unread])  # their leases run out by themselves

    def _let_go(self, ids: list[int]) -> None:
        was_full = self._own_claims.count() >= self.prefetch
        self._own_claims.drop(ids)
        self._process_claims.drop(ids)
        if was_full:
            self.bell.ring()
