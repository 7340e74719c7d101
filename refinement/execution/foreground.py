"""A run in somebody's foreground: the same loop as a worker's."""

import os
import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from django.db.models import F
from django.utils import timezone

from refinement.execution.leases import Lease, LeaseLost, lease_release, lease_take
from refinement.execution.loop import run_loop
from refinement.execution.step import StepOptions, StepResult
from refinement.models import Run, RunStatus

TRIES = 4  # somebody is watching: an endpoint that is away is given up after some seconds
PREFIX = "foreground"


class RunBusy(Exception):
    """Another process is at work on the run."""


def foreground_owner() -> str:
    return f"{PREFIX}:{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def run_in_foreground(
    run_id: int, options: StepOptions, on_waiting: Callable[[StepResult], None], *, owner: str = ""
) -> None:
    """Carries the run to its end. Interrupted, it is left paused with everything that finished."""
    holder = owner or foreground_owner()
    options = replace(options, tries=TRIES)
    lease = lease_for(run_id, holder)
    try:
        while (result := run_loop(lease, options)).next_try_at is not None:
            on_waiting(result)
            wait_until(result.next_try_at)
            lease = lease_for(run_id, holder)
    except BaseException:
        let_go(lease)
        raise


def lease_for(run_id: int, owner: str) -> Lease[Run]:
    lease = lease_take(Run, run_id, owner)
    if lease is None:
        raise RunBusy(f"run {run_id} is being worked on elsewhere, or is no longer to be continued.")
    return lease


def wait_until(moment: datetime) -> None:
    time.sleep(max(0.0, (moment - timezone.now()).total_seconds()))


def let_go(lease: Lease[Run]) -> None:
    """Leaves the run paused, to be continued by whoever resumes it."""
    waiting = Run.objects.filter(pk=lease.row.pk, status=RunStatus.WAITING)
    try:
        lease_release(lease, status=RunStatus.PAUSED)
    except LeaseLost:
        waiting.update(status=RunStatus.PAUSED, next_try_at=None, waiting_for="")


def foreground_resume(run_id: int) -> Run:
    """Makes a paused or abandoned run ready to be taken up again; raises Run.DoesNotExist or RunBusy."""
    run = Run.objects.get(pk=run_id)
    if run.is_finished:
        return run
    abandoned = owner_is_gone(run.lease_owner)
    if run.lease_until and run.lease_until > timezone.now() and not abandoned:
        raise RunBusy(
            f"run {run_id} is being worked on by {run.lease_owner}; cancel or pause it there first."
        )
    changed = Run.objects.filter(pk=run_id, attempt=run.attempt, lease_owner=run.lease_owner).update(
        status=RunStatus.RUNNING,
        attempt=F("attempt") + 1,
        lease_owner="",
        lease_until=None,
        next_try_at=None,
        waiting_for="",
        woken_at=timezone.now(),
    )
    if not changed:
        raise RunBusy(f"run {run_id} was taken up by another process just now.")
    run.refresh_from_db()
    return run


def owner_is_gone(owner: str) -> bool:
    """Whether the lease's holder was a foreground process of this machine that is no more."""
    parts = owner.split(":")
    if len(parts) != 4 or parts[0] != PREFIX or parts[1] != socket.gethostname():
        return False
    try:
        os.kill(int(parts[2]), 0)
    except (ProcessLookupError, ValueError):
        return True
    except PermissionError:
        return False
    return False
