"""Operations on message rows. Each is one short transaction, and none waits for a lock."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import connections, models, transaction
from django.db.models import F, Min, Q
from django.utils import timezone

from refinement.models.system.queue import MessageState, QueuedMessage

LEASE = timedelta(seconds=15)
DEAD_MESSAGES_KEPT = timedelta(days=7)
MAX_REQUEUES = 10  # a message that crashed this many workers is marked as dead


def next_due(alias: str, queue: str) -> datetime | None:
    """When the next message of the queue is due, or None."""
    queued = QueuedMessage.objects.using(alias).filter(queue=queue, state=MessageState.QUEUED)
    first: datetime | None = queued.aggregate(first=Min("eta"))["first"]
    return first


def claim(alias: str, queue: str, owner: str, limit: int) -> list[QueuedMessage]:
    """Lease up to `limit` due messages to the owner, most urgent first."""
    now = timezone.now()
    due = QueuedMessage.objects.using(alias).filter(queue=queue, state=MessageState.QUEUED, eta__lte=now)
    with transaction.atomic(using=alias):
        # PostgreSQL skips rows that another consumer is claiming; SQLite has one writer at a time.
        rows = list(due.order_by("priority", "eta", "pk").select_for_update(skip_locked=True)[:limit])
        QueuedMessage.objects.using(alias).filter(pk__in=[row.pk for row in rows]).update(
            state=MessageState.CLAIMED, lease_owner=owner, lease_until=now + LEASE, updated_at=now
        )
    return rows


def renew(alias: str, owner: str, ids: Collection[int]) -> None:
    """Extend the owner's leases."""
    held_by(alias, owner, ids).update(lease_until=timezone.now() + LEASE)


def finish(alias: str, owner: str, row_id: int) -> None:
    """Delete a finished message, unless another owner has claimed it."""
    ours_or_queued = Q(lease_owner=owner) | Q(state=MessageState.QUEUED)
    QueuedMessage.objects.using(alias).filter(ours_or_queued, pk=row_id).delete()


def bury(alias: str, owner: str, row_id: int) -> None:
    """Mark a failed message as dead. It is kept for inspection."""
    held_by(alias, owner, [row_id]).update(
        state=MessageState.DEAD, lease_owner="", lease_until=None, updated_at=timezone.now()
    )


def release(alias: str, owner: str, ids: Collection[int]) -> None:
    """Return unprocessed messages to the queue."""
    held_by(alias, owner, ids).update(
        state=MessageState.QUEUED, lease_owner="", lease_until=None, updated_at=timezone.now()
    )


def recover(alias: str, queue: str) -> int:
    """Requeue messages of lost consumers, and return how many."""
    now = timezone.now()
    expired = QueuedMessage.objects.using(alias).filter(
        queue=queue, state=MessageState.CLAIMED, lease_until__lt=now
    )
    if not expired.exists():  # avoids SQLite's write lock
        return 0
    expired.filter(requeues__gte=MAX_REQUEUES).update(
        state=MessageState.DEAD, lease_owner="", lease_until=None, updated_at=now
    )
    return expired.update(
        state=MessageState.QUEUED,
        lease_owner="",
        lease_until=None,
        requeues=F("requeues") + 1,
        updated_at=now,
    )


def sweep_dead(alias: str) -> None:
    """Delete old dead messages."""
    QueuedMessage.objects.using(alias).filter(
        state=MessageState.DEAD, updated_at__lt=timezone.now() - DEAD_MESSAGES_KEPT
    ).delete()


def held_by(alias: str, owner: str, ids: Collection[int]) -> models.QuerySet[QueuedMessage]:
    return QueuedMessage.objects.using(alias).filter(
        pk__in=ids, lease_owner=owner, state=MessageState.CLAIMED
    )


def change_counter(alias: str) -> object | None:
    """A value that changes when another connection changes the database, or None if not supported."""
    connection = connections[alias]
    if connection.vendor != "sqlite":
        return None
    connection.ensure_connection()
    # Directly on the driver, because this runs many times a second.
    version = connection.connection.execute("PRAGMA data_version").fetchone()[0]
    return id(connection.connection), version
