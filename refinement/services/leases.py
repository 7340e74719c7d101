"""Leases: who may advance a run now. A holder that lost its lease can no longer write."""

import random
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Generic, Protocol, TypeVar

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from refinement.models import Run, RunStatus

LEASE = timedelta(seconds=15)  # a killed worker's runs go on after so long
RENEW_EVERY = LEASE / 3
# A step may kill its worker every time: it needs more memory than there is, or crashes a library. Five leaves
# room for a machine that is restarted a few times during one long step. A worker that is told to stop gives
# its leases back, so a deploy does not count.
MOST_CRASHES = 5
CHECK_EVERY = 0.25  # seconds between two looks at which leases are lost


class LeaseLost(Exception):
    """Somebody cancelled, paused or took over the run; the work in hand is thrown away."""


@dataclass(slots=True, eq=False)
class Lease:
    """The right to advance one run.

    `attempt` is the fence: every claim, every recorded step and every change from outside raises it, and
    every write names it. So a holder that was replaced writes nothing, and a write that is retried although
    its commit went through finds no row.
    """

    run_id: int
    owner: str
    attempt: int
    run: Run  # the row as this holder last read or wrote it
    took_over: bool = False  # from a holder that was lost in this step

    @property
    def key(self) -> "LeaseKey":
        return self.run_id, self.owner, self.attempt

    @property
    def held(self) -> QuerySet[Run]:
        """The run's row, as long as the lease is held."""
        return Run.objects.filter(
            pk=self.run_id, lease_owner=self.owner, attempt=self.attempt, status=RunStatus.RUNNING
        )


def due_and_free(now: datetime) -> Q:
    """What should be worked on and is not: queued, left by a lost holder, or done waiting.

    The one definition for runs and trials. Claims, the sweeper and "do others wait?" all use it.
    """
    free = Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    due = Q(status__in=(RunStatus.QUEUED, RunStatus.RUNNING)) & free
    return due | Q(status=RunStatus.WAITING, next_try_at__lte=now)


@transaction.atomic
def lease_take(run_id: int, owner: str) -> Lease | None:
    """Claims a run that is due and free; None when there is nothing to do."""
    now = timezone.now()
    claim = {
        "status": RunStatus.RUNNING,
        "lease_owner": owner,
        "lease_until": now + LEASE,
        "attempt": F("attempt") + 1,
        "started_at": Coalesce("started_at", now),
        "next_try_at": None,
        "waiting_for": "",
        "waiting_endpoint": "",
        "calling_endpoint": "",
        "wakes": 0,
    }
    due = Run.objects.filter(due_and_free(now), pk=run_id)
    taken = due.filter(lease_until=None).update(**claim)
    # A lease that ran out was never given back: its holder was lost, which is counted as the lease is taken.
    took_over = not taken and due.filter(lease_until__lt=now).update(
        step_crashes=F("step_crashes") + 1, **claim
    )
    if not taken and not took_over:
        return None
    run = Run.objects.get(pk=run_id)
    return Lease(run_id, owner, run.attempt, run, took_over=bool(took_over))


def crash_pause(crashes: int) -> timedelta:
    """How long to wait after so many crashes in one step: not at all after the first.

    All that a worker was doing stops with it and would start again together. Spread over a growing time, what
    is harmless finishes its step apart from what kills the worker, and is not given up with it.
    """
    return LEASE * 2**crashes * random.random() if crashes > 1 else timedelta()  # noqa: S311  not a secret


def lease_renew(lease: Lease) -> bool:
    """Extends the lease; False when it is lost."""
    return bool(lease.held.update(lease_until=timezone.now() + LEASE))


def lease_write(lease: Lease, **fields: object) -> None:
    """Changes the run's row as its holder; raises LeaseLost when it no longer is."""
    if not lease.held.update(**fields):
        raise LeaseLost(f"run {lease.run_id} is no longer held by {lease.owner}")


def lease_release(lease: Lease, **fields: object) -> None:
    """Gives the run back, with a last change of its row; raises LeaseLost."""
    lease_write(lease, **released(**fields))


def released(**fields: object) -> dict[str, object]:
    """A change of the run's row that gives the lease back."""
    return {"lease_owner": "", "lease_until": None, "calling_endpoint": "", **fields}


LeaseKey = tuple[int, str, int]  # what is held, by whom, at which attempt


class Keyed(Protocol):
    @property
    def key(self) -> LeaseKey: ...


L = TypeVar("L", bound=Keyed)


class LeaseChecks(Generic[L]):
    """Tells whether leases are still held: nobody cancelled, paused or took over. One query answers for all.

    `keys_held` returns the keys of those of the given ids that are held now.
    """

    def __init__(self, keys_held: Callable[[Collection[int]], set[LeaseKey]]) -> None:
        self._keys_held = keys_held
        self._checking = Lock()
        self._in_use: set[L] = set()
        self._lost: set[L] = set()
        self._checked = 0.0

    @contextmanager
    def using(self, lease: L) -> Iterator[Callable[[], bool]]:
        """What to ask whether the lease is still held, from any thread and as often as one likes."""
        self._in_use.add(lease)
        try:
            yield lambda: self._is_held(lease)
        finally:
            self._in_use.discard(lease)
            self._lost.discard(lease)

    def _is_held(self, lease: L) -> bool:
        # Nobody waits for another's query: a database that hangs holds up one thread, not all of them.
        if time.monotonic() - self._checked >= CHECK_EVERY and self._checking.acquire(blocking=False):
            try:
                self._check()
            finally:
                self._checking.release()
        return lease not in self._lost

    def _check(self) -> None:
        in_use = self._in_use.copy()
        held = self._keys_held({lease.key[0] for lease in in_use})
        self._lost = {lease for lease in in_use if lease.key not in held}
        self._checked = time.monotonic()


def runs_held(run_ids: Collection[int]) -> set[LeaseKey]:
    """The keys of those of the runs that are held now."""
    running = Run.objects.filter(pk__in=run_ids, status=RunStatus.RUNNING)
    return set(running.values_list("pk", "lease_owner", "attempt"))


run_leases: LeaseChecks[Lease] = LeaseChecks(runs_held)
