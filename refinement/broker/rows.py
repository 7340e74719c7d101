"""What happens to a message's row. Each function is one short transaction, and none waits for a lock."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import connections, models, transaction
from django.db.models import F, Min, Q
from django.utils import timezone

from refinement.models.system.queue import MessageState, QueuedMessage

LEASE = timedelta(seconds=15)
DEAD_MESSAGES_KEPT = timedelta(days=7)
MAX_REQUEUES = 10  # a message that took this many workers down with it is given up


def next_due(alias: str, queue: str) -> datetime | None:
    """When the next message of the queue is due; None when there is none."""
    queued = QueuedMessage.objects.using(alias).filter(queue=queue, state=MessageState.QUEUED)
    first: datetime | None = queued.aggregate(first=Min("eta"))["first"]
    return first


def claim(alias: str, queue: str, owner: str, limit: int) -> list[QueuedMessage]:
    """Up to `limit` messages that are due, the most urgent first, now leased to the owner alone."""
    now = timezone.now()
    due = QueuedMessage.objects.using(alias).filter(queue=queue, state=MessageState.QUEUED, eta__lte=now)
    with transaction.atomic(using=alias):
        # PostgreSQL passes over rows that another consumer is claiming; SQLite has one writer at a time.
        rows = list(due.order_by("priority", "eta", "pk").select_for_update(skip_locked=True)[:limit])
        QueuedMessage.objects.using(alias).filter(pk__in=[row.pk for row in rows]).update(
            state=MessageState.CLAIMED, lease_owner=owner, lease_until=now + LEASE, updated_at=now
        )
    return rows


def renew(alias: str, owner: str, ids: Collection[int]) -> None:
    """Keeps what the owner is still working on."""
    held_by(alias, owner, ids).update(lease_until=timezone.now() + LEASE)


def finish(alias: str, owner: str, row_id: int) -> None:
    """Deletes a message that is done, unless somebody else has claimed it meanwhile."""
    ours_or_queued = Q(lease_owner=owner) | Q(state=MessageState.QUEUED)
    QueuedMessage.objects.using(alias).filter(ours_or_queued, pk=row_id).delete()


def bury(alias: str, owner: str, row_id: int) -> None:
    """Keeps a message that failed for good, for people to look at."""
    held_by(alias, owner, [row_id]).update(
        state=MessageState.DEAD, lease_owner="", lease_until=None, updated_at=timezone.now()
    )


def release(alias: str, owner: str, ids: Collection[int]) -> None:
    """Puts messages that were not begun back where they were."""
    held_by(alias, owner, ids).update(
        state=MessageState.QUEUED, lease_owner="", lease_until=None, updated_at=timezone.now()
    )


def recover(alias: str, queue: str) -> int:
    """Queues again what lost consumers held; how many messages that were."""
    now = timezone.now()
    expired = QueuedMessage.objects.using(alias).filter(
        queue=queue, state=MessageState.CLAIMED, lease_until__lt=now
    )
    if not expired.exists():  # an update would take SQLite's write lock just to change nothing
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
    """Deletes dead messages that have been kept long enough."""
    QueuedMessage.objects.using(alias).filter(
        state=MessageState.DEAD, updated_at__lt=timezone.now() - DEAD_MESSAGES_KEPT
    ).delete()


def held_by(alias: str, owner: str, ids: Collection[int]) -> models.QuerySet[QueuedMessage]:
    return QueuedMessage.objects.using(alias).filter(
        pk__in=ids, lease_owner=owner, state=MessageState.CLAIMED
    )


def change_counter(alias: str) -> object | None:
    """A value that differs whenever another connection has changed the database; None where unknown."""
    connection = connections[alias]
    if connection.vendor != "sqlite":
        return None
    connection.ensure_connection()
    # Straight to the driver: this runs many times a second, and the value is the connection's own.
    version = connection.connection.execute("PRAGMA data_version").fetchone()[0]
    return id(connection.connection), version
