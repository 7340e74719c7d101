"""Leases: which worker may carry out a run, a trial or a delivery now.

Every function works on any `Leased` row. A worker that lost its lease can no longer write.
"""

import os
import random
import secrets
import socket
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from django.db import DatabaseError, InterfaceError, close_old_connections, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from refinement.models import BenchTrial, Run, WebhookDelivery
from refinement.models.leased import Leased, WorkStatus

LEASE = timedelta(seconds=15)  # a killed worker's runs go on after so long
RENEW_EVERY = LEASE / 3
# A step may kill its worker every time: it needs more memory than there is, or crashes a library. Five leaves
# room for a machine that restarts a few times during one long step. A worker that is told to stop gives its
# leases back, so a deploy does not count.
MOST_CRASHES = 5
# Everything that workers carry out.
LEASED: tuple[type[Leased], ...] = (Run, BenchTrial, WebhookDelivery)
_process = f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}"

Row = TypeVar("Row", bound=Leased)


class LeaseLost(Exception):
    """Somebody cancelled, paused or took over the work; what is in hand is thrown away."""


@dataclass(slots=True, eq=False)
class Lease(Generic[Row]):
    """The right to carry out one row's work.

    `attempt` is the fence: every claim, every recorded step and every change from outside raises it, and
    every write names it. So a holder that was replaced writes nothing, and a write that is retried although
    its commit went through finds no row.
    """

    row: Row  # as this holder last read or wrote it
    owner: str
    attempt: int
    took_over: bool = False  # from a worker that was lost

    @property
    def held(self) -> QuerySet[Row]:
        """The row, as long as the lease is held."""
        return held_by(self.row, self.owner, self.attempt)


def held_by(row: Row, owner: str, attempt: int) -> QuerySet[Row]:
    """The row as a queryset, empty unless this owner holds it at this attempt."""
    rows = type(row).objects
    return rows.filter(pk=row.pk, lease_owner=owner, attempt=attempt, status=WorkStatus.RUNNING)


def due_and_free(model: type[Row]) -> QuerySet[Row]:
    """What should be worked on and is not: queued, left by a lost worker, or done waiting.

    The one definition. Claims, the sweeper and "is other work waiting?" all use it.
    """
    now = timezone.now()
    return model.objects.filter(
        Q(lease_until=None) | Q(lease_until__lt=now),
        Q(next_try_at=None) | Q(next_try_at__lte=now),
        status__in=WorkStatus.values,
    )


@transaction.atomic
def lease_take(model: type[Row], pk: int, owner: str = "", **changes: object) -> Lease[Row] | None:
    """Claims a row that is due and free, with `changes`; None when there is nothing to do."""
    owner = owner or f"{_process}:{threading.get_ident()}"
    now = timezone.now()
    claim = {
        "status": WorkStatus.RUNNING,
        "lease_owner": owner,
        "lease_until": now + LEASE,
        "attempt": F("attempt") + 1,
        "started_at": Coalesce("started_at", now),
        "next_try_at": None,
        "waiting_for": "",
        "waiting_endpoint": "",
        "calling_endpoint": "",
        "wakes": 0,
        **changes,
    }
    due = due_and_free(model).filter(pk=pk)
    taken = due.filter(lease_until=None).update(**claim)
    # A lease that ran out was never given back: its worker was lost, which is counted here.
    took_over = not taken and due.update(crashes=F("crashes") + 1, **claim)
    if not taken and not took_over:
        return None
    row = model.objects.get(pk=pk)
    return Lease(row, owner, row.attempt, took_over=bool(took_over))


def crash_pause(crashes: int) -> timedelta:
    """How long to wait after so many crashes in one step: not at all after the first.

    Everything a worker was doing stops with it and would start again together. Spread over a growing time,
    harmless work finishes its step apart from what kills the worker, and is not given up with it.
    """
    return LEASE * 2**crashes * random.random() if crashes > 1 else timedelta()  # noqa: S311  not a secret


def lease_renew(lease: Lease[Row]) -> bool:
    """Extends the lease; False when it is lost."""
    return bool(lease.held.update(lease_until=timezone.now() + LEASE))


def lease_write(lease: Lease[Row], **fields: object) -> None:
    """Changes the row as its holder; raises LeaseLost when it is no longer held."""
    if not lease.held.update(**fields):
        raise LeaseLost(f"{type(lease.row).__name__} {lease.row.pk} is no longer held by {lease.owner}")


def lease_release(lease: Lease[Row], **fields: object) -> None:
    """Gives the row back, with a last change of it; raises LeaseLost."""
    lease_write(lease, **released(**fields))


def lease_drop(lease: Lease[Row], **fields: object) -> bool:
    """Gives the row back after an error, so that nobody waits for the lease to run out.

    Returns whether it was still held.
    """
    close_old_connections()  # the error may have been a lost connection
    try:
        lease_release(lease, **fields)
    except (LeaseLost, DatabaseError, InterfaceError):
        return False
    return True


def released(**fields: object) -> dict[str, object]:
    """A change of a row that gives its lease back."""
    return {"lease_owner": "", "lease_until": None, "calling_endpoint": "", **fields}
