"""What happens to a message's row. Each function is one short transaction, and none waits for a lock."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connections, models
from django.db.models import F
from django.utils import timezone
from dramatiq import Message

from refinement.models.queue import MessageState, QueuedMessage
from refinement.models.statements import convert, rows_change, rows_select, rows_touch, rows_update

LEASE = timedelta(seconds=15)
DEAD_MESSAGES_KEPT = timedelta(days=7)
MAX_REQUEUES = 10  # a message that took this many workers down with it is given up


TABLE = QueuedMessage._meta.db_table
# One statement finds and takes; PostgreSQL passes over rows that another consumer is taking just now,
# and SQLite has one writer at a time.
DUE = (
    f'"id" IN (SELECT "id" FROM "{TABLE}" WHERE "queue" = %s AND "state" = \'queued\' AND "eta" <= %s '  # noqa: S608
    'ORDER BY "priority", "eta", "id" LIMIT %s)'
)
DUE_SKIPPING_LOCKED = DUE.removesuffix(")") + " FOR UPDATE SKIP LOCKED)"
FIRST = f'SELECT MIN("eta") FROM "{TABLE}" WHERE "queue" = %s AND "state" = \'queued\''  # noqa: S608
FINISHED = f'DELETE FROM "{TABLE}" WHERE "id" = %s AND ("lease_owner" = %s OR "state" = \'queued\')'  # noqa: S608
# What is as urgent and due goes first; equal on both columns, so that the index leads straight to it.
IN_LINE = (
    f'SELECT 1 FROM "{TABLE}" AS other WHERE other."queue" = %s AND other."state" = \'queued\' '  # noqa: S608
    'AND other."priority" = %s AND other."eta" <= %s'
)
EXCHANGED = (
    '"id" = %s AND "lease_owner" = %s AND "message_id" = %s AND "state" = \'claimed\' '
    f"AND NOT EXISTS ({IN_LINE})"
)


def next_due(alias: str, queue: str) -> datetime | None:
    """When the next message of the queue is due; None when there is none."""
    connection = connections[alias]
    ((first,),) = rows_select(FIRST, [queue], alias)
    return None if first is None else convert(first, QueuedMessage._meta.get_field("eta"), connection)


class Claimed(NamedTuple):
    """What a consumer needs of a message that it has taken."""

    priority: int
    eta: object  # as the database keeps it: good for sorting
    pk: int
    body: str


def claim(alias: str, queue: str, owner: str, limit: int, grace: timedelta = timedelta()) -> list[Claimed]:
    """Up to `limit` messages due for so long, the most urgent first, now leased to the owner alone."""
    now = timezone.now()
    taken = rows_update(
        QueuedMessage,
        {"state": MessageState.CLAIMED, "lease_owner": owner, "lease_until": now + LEASE, "updated_at": now},
        DUE_SKIPPING_LOCKED if connections[alias].vendor == "postgresql" else DUE,
        [queue, now - grace, limit],
        returning=("priority", "eta", "id", "body"),
        using=alias,
    )
    return sorted(Claimed(*values) for values in taken)


def renew(alias: str, owner: str, ids: Collection[int]) -> None:
    """Keeps what the owner is still working on."""
    held_by(alias, owner, ids).update(lease_until=timezone.now() + LEASE)


def finish(alias: str, owner: str, row_id: int) -> None:
    """Deletes a message that is done, unless somebody else has claimed it meanwhile."""
    rows_touch(FINISHED, [row_id, owner], alias)


def exchange(alias: str, owner: str, row_id: int, old: str, new: Message[Any], priority: int) -> bool:
    """Puts a message in the place of the one that the owner holds; not where others wait for their turn."""
    now = timezone.now()
    values = {
        "message_id": new.message_id,
        "body": new.encode().decode(),
        "eta": now,
        "lease_until": now + LEASE,
        "requeues": 0,
        "updated_at": now,
    }
    where = [row_id, owner, old, new.queue_name, priority, now]
    return bool(rows_change(QueuedMessage, values, EXCHANGED, where, alias))


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
