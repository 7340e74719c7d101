"""Leases: who may advance a run now. A lease that was lost writes nothing any more."""

import random
from dataclasses import dataclass, field
from datetime import timedelta

from django.utils import timezone

from refinement.models import Run
from refinement.models.statements import columns_of, model_of, rows_change, rows_select

LEASE = timedelta(seconds=15)  # a killed worker's runs go on after so long
RENEW_EVERY = LEASE / 3
# A step may kill its worker every time: it needs more memory than there is, or crashes a library. Five leaves
# room for a machine that is restarted a few times during one long step. A worker that is told to stop gives
# its leases back, so a deploy does not count.
MOST_CRASHES = 5


class LeaseLost(Exception):
    """Somebody cancelled, paused or took over the run; the work in hand is thrown away."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to advance one run; `attempt` tells this holder from an earlier one."""

    run_id: int
    owner: str
    attempt: int
    run: Run = field(compare=False, repr=False)  # as it was when the lease was taken
    took_over: bool = False  # from a holder that was lost in this step


DUE = "(\"status\" IN ('queued', 'running') OR (\"status\" = 'waiting' AND \"next_try_at\" <= %s))"
HELD = '"id" = %s AND "lease_owner" = %s AND "attempt" = %s AND "status" = \'running\''
# What a run knew at its start never changes and may be long: a worker that remembers it reads it no more.
KNOWN_AT_THE_START = ("task", "seed", "snapshot", "calibration")
# The attempt fences: an earlier holder that wakes up late no longer matches.
HOLD = (
    f'UPDATE "{Run._meta.db_table}" SET "status" = \'running\', "lease_owner" = %s, "lease_until" = %s, '  # noqa: S608
    '"attempt" = "attempt" + 1, "started_at" = COALESCE("started_at", %s), "next_try_at" = NULL, '
    '"waiting_for" = \'\', "waiting_endpoint" = \'\', "calling_endpoint" = \'\', "wakes" = 0'
)
RETURNING = "RETURNING " + ", ".join(f'"{column}"' for column in columns_of(Run, KNOWN_AT_THE_START))
TAKE = f'{HOLD} WHERE "id" = %s AND {DUE} AND "lease_until" IS NULL {RETURNING}'
# A lease that ran out was never given back: its holder was lost, which is counted as the lease is taken.
TAKE_OVER = (
    f'{HOLD}, "step_crashes" = "step_crashes" + 1 '
    f'WHERE "id" = %s AND {DUE} AND "lease_until" < %s {RETURNING}'
)


def lease_take(run_id: int, owner: str) -> Lease | None:
    """Claims a run that is due and that nobody holds; None when there is nothing to do."""
    now = timezone.now()
    values = [owner, now + LEASE, now, run_id, now]
    taken = rows_select(TAKE, values)
    taken_over = [] if taken else rows_select(TAKE_OVER, [*values, now])
    if not taken and not taken_over:
        return None
    (row,) = taken or taken_over
    run = model_of(Run, row, without=KNOWN_AT_THE_START)
    return Lease(run_id, owner, run.attempt, run, took_over=bool(taken_over))


def crash_pause(crashes: int) -> timedelta:
    """How long to wait after so many crashes in one step: not at all after the first.

    All that a worker was doing stops with it and would start again together. Spread over a growing time, what
    is harmless finishes its step apart from what kills the worker, and is not given up with it.
    """
    return LEASE * 2**crashes * random.random() if crashes > 1 else timedelta()  # noqa: S311  not a secret


def lease_renew(lease: Lease) -> bool:
    """Extends the lease; False when it is lost."""
    return bool(rows_change(Run, {"lease_until": timezone.now() + LEASE}, HELD, held(lease)))


def lease_write(lease: Lease, **fields: object) -> None:
    """Changes the run's row as its holder; raises LeaseLost when it no longer is."""
    if not rows_change(Run, fields, HELD, held(lease)):
        raise LeaseLost(f"run {lease.run_id} is no longer held by {lease.owner}")


def lease_release(lease: Lease, **fields: object) -> None:
    """Lets go of the run, with a last change of its row."""
    lease_write(lease, **released(**fields))


def released(**fields: object) -> dict[str, object]:
    """A change of the run's row that lets go of it."""
    return {"lease_owner": "", "lease_until": None, "calling_endpoint": "", **fields}


def kept(lease: Lease, **fields: object) -> dict[str, object]:
    """A change of the run's row by which its holder goes on with it: a lease like one taken anew."""
    going = {"attempt": lease.attempt + 1, "lease_until": timezone.now() + LEASE, "wakes": 0}
    return {**going, "calling_endpoint": "", **fields}


def lease_after(lease: Lease, run: Run) -> Lease:
    """The lease that `kept` gives, with the run as it then is."""
    return Lease(lease.run_id, lease.owner, lease.attempt + 1, run)


def held(lease: Lease) -> list[object]:
    return [lease.run_id, lease.owner, lease.attempt]
