"""Leases: which worker may carry out a run, a trial or a delivery now.

Every function works on any `Leased` row. A worker that lost its lease can no longer write.

    lease = lease_take(Run, run_id)
    if lease is not None:
        lease_write(lease, step_calls=1)  # LeaseLost if another worker has it now
        lease_release(lease, status=RunStatus.QUEUED)
"""

import os
import random
import secrets
import socket
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeAlias, TypeVar

from django.db import DatabaseError, InterfaceError, close_old_connections, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from refinement.models import BenchTrial, EvaluatorTrial, Report, RubricProposal, Run, WebhookDelivery
from refinement.models.leased import Leased, WorkStatus

LEASE = timedelta(seconds=15)  # after this time another worker takes over from a killed one
RENEW_EVERY = LEASE / 3
# A step may kill its worker every time: it runs out of memory, or crashes a library. Five tolerates a machine
# that restarts a few times during one long step. A worker that shuts down normally releases its leases, so a
# deploy does not count.
MAX_CRASHES = 5
# Everything that workers carry out.
LEASED: tuple[type[Leased], ...] = (
    Run,
    BenchTrial,
    EvaluatorTrial,
    RubricProposal,
    Report,
    WebhookDelivery,
)
_machine, _token = socket.gethostname()[:40], secrets.token_hex(4)

Row = TypeVar("Row", bound=Leased)
LeaseKey: TypeAlias = tuple[type[Leased], int, str]  # model, primary key, owner


class LeaseLost(Exception):
    """The work was cancelled, paused or taken over. Discard the results in progress."""


@dataclass(slots=True, eq=False)
class Lease(Generic[Row]):
    """The right to carry out one row's work.

    `attempt` is the fencing token: every claim, every recorded step and every change from outside raises it,
    and every write filters by it. So a holder that was replaced writes nothing, and retrying a write that was
    committed already changes nothing.
    """

    row: Row  # as this holder last read or wrote it
    owner: str
    attempt: int
    took_over: bool = False  # the previous worker crashed

    @property
    def key(self) -> LeaseKey:
        """What tells this lease from every other."""
        return type(self.row), self.row.pk, self.owner

    @property
    def held(self) -> QuerySet[Row]:
        """The row as a queryset, empty once the lease is lost."""
        return held_by(self.row, self.owner, self.attempt)


def held_by(row: Row, owner: str, attempt: int) -> QuerySet[Row]:
    """The row as a queryset, empty unless this owner holds it at this attempt."""
    rows = type(row).objects
    return rows.filter(pk=row.pk, lease_owner=owner, attempt=attempt, status=WorkStatus.RUNNING)


def due_and_free(model: type[Row]) -> QuerySet[Row]:
    """Rows that a worker should take: queued, abandoned by a crashed worker, or done waiting.

    The only definition: claims, the sweeper and `work_is_waiting` all use it.
    """
    now = timezone.now()
    return model.objects.filter(
        Q(lease_until=None) | Q(lease_until__lt=now),
        Q(next_try_at=None) | Q(next_try_at__lte=now),
        status__in=WorkStatus.values,
    )


@transaction.atomic
def lease_take(model: type[Row], pk: int, owner: str = "", **changes: object) -> Lease[Row] | None:
    """Claims the row if it is due and free, and sets `changes` on it; otherwise None.

    `owner` defaults to a name of this process and thread. If the previous lease ran out without being
    released, its worker crashed: `crashes` goes up and the lease has `took_over` set.
    """
    owner = owner or f"{_machine}:{os.getpid()}:{_token}:{threading.get_ident()}"
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
        "calling": {},
        "wakes": 0,
        **changes,
    }
    due = due_and_free(model).filter(pk=pk)
    taken = due.filter(lease_until=None).update(**claim)
    # A lease that ran out was never released: its worker crashed.
    took_over = not taken and due.update(crashes=F("crashes") + 1, **claim)
    if not taken and not took_over:
        return None
    row = model.objects.get(pk=pk)
    return Lease(row, owner, row.attempt, took_over=bool(took_over))


def crash_pause(crashes: int) -> timedelta:
    """How long to wait after this many crashes in one step; zero after the first.

    All work of a crashed worker would restart at the same time, and crash with it again. Random, growing
    pauses separate the harmless work from the work that kills the worker.
    """
    return LEASE * 2**crashes * random.random() if crashes > 1 else timedelta()  # noqa: S311  not a secret


def lease_renew(lease: Lease[Row]) -> bool:
    """Extends the lease by its full time; False if it is lost.

    Any thread may call it, also while a step is being recorded: it names the owner, not the attempt.
    """
    rows = type(lease.row).objects.filter(pk=lease.row.pk, lease_owner=lease.owner, status=WorkStatus.RUNNING)
    return bool(rows.update(lease_until=timezone.now() + LEASE))


def lease_write(lease: Lease[Row], **fields: object) -> None:
    """Updates the row's fields; raises LeaseLost if the lease is no longer held.

    `lease.row` is not changed: the caller updates it where it matters.
    """
    if not lease.held.update(**fields):
        raise LeaseLost(f"{type(lease.row).__name__} {lease.row.pk} is no longer held by {lease.owner}")


def lease_release(lease: Lease[Row], **fields: object) -> None:
    """Releases the lease and updates the row's fields in one write; raises LeaseLost."""
    lease_write(lease, **released(**fields))


def lease_drop(lease: Lease[Row], **fields: object) -> bool:
    """Releases the lease after an error, so that the work can go on before it expires; never raises.

    Returns whether the lease was still held.
    """
    close_old_connections()  # the error may have been a lost connection
    try:
        lease_release(lease, **fields)
    except (LeaseLost, DatabaseError, InterfaceError):
        return False
    return True


def released(**fields: object) -> dict[str, object]:
    """`fields` plus the fields that release a row's lease."""
    return {"lease_owner": "", "lease_until": None, "calling": {}, **fields}
