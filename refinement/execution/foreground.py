"""Runs in the foreground, with the same loop as a worker's."""

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
from refinement.execution.steps.step import StepOptions, StepResult
from refinement.models import Run, RunStatus

TRIES = 4  # a user is watching: give up on an unreachable endpoint after some seconds
PREFIX = "foreground"


class RunBusy(Exception):
    """The run is held by another process, or cannot be continued."""


def foreground_owner() -> str:
    """A lease owner's name that `owner_is_gone` can check on this machine."""
    return f"{PREFIX}:{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def run_in_foreground(
    run_id: int, options: StepOptions, on_waiting: Callable[[StepResult], None], *, owner: str = ""
) -> None:
    """Carries out the run to its end, and sleeps while it has to wait.

    `on_waiting` is called with the result of each step that has to wait. If the function is interrupted or
    fails, the run is left paused; finished steps are kept. Raises RunBusy.
    """
    holder = owner or foreground_owner()
    options = replace(options, tries=TRIES)
    lease = lease_for(run_id, holder)
    try:
        while (result := run_loop(lease, options)).next_try_at is not None:
            on_waiting(result)
            wait_until(result.next_try_at)
            lease = lease_for(run_id, holder)
    except BaseException:
        leave_paused(lease)
        raise


def lease_for(run_id: int, owner: str) -> Lease[Run]:
    lease = lease_take(Run, run_id, owner)
    if lease is None:
        raise RunBusy(f"run {run_id} is being worked on elsewhere, or cannot be continued.")
    return lease


def wait_until(moment: datetime) -> None:
    time.sleep(max(0.0, (moment - timezone.now()).total_seconds()))


def leave_paused(lease: Lease[Run]) -> None:
    """Pauses the run, so that it can be resumed later."""
    waiting = Run.objects.filter(pk=lease.row.pk, status=RunStatus.WAITING)
    try:
        lease_release(lease, status=RunStatus.PAUSED)
    except LeaseLost:
        waiting.update(status=RunStatus.PAUSED, next_try_at=None, waiting_for="")


def foreground_resume(run_id: int) -> Run:
    """Makes a paused or abandoned run ready to continue; raises Run.DoesNotExist or RunBusy."""
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
        raise RunBusy(f"run {run_id} was just taken by another process.")
    run.refresh_from_db()
    return run


def owner_is_gone(owner: str) -> bool:
    """Whether the lease's owner was a foreground process on this machine that no longer runs."""
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
