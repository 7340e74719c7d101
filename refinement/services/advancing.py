"""A worker's part: take a run that is due, carry out one step, account for it."""

import logging
import os
import secrets
import socket
import threading
import time
from contextlib import suppress

from django.db import DatabaseError, InterfaceError, close_old_connections
from dramatiq.middleware import Interrupt

from refinement.broker.interrupting import work_is_done
from refinement.engine.types import Finish, Judge, Outcome, StopReason
from refinement.selectors.live import WORKER_LOST
from refinement.services.execution import StepOptions, StepResult, run_step
from refinement.services.leases import (
    MOST_CRASHES,
    Lease,
    LeaseLost,
    crash_pause,
    lease_after,
    lease_release,
    lease_renew,
    lease_take,
)
from refinement.services.metrics import count
from refinement.services.places import place_offer
from refinement.services.recollection import Kept, lease_kept, leases_kept
from refinement.services.recording import Recorder
from refinement.services.waking import run_wake

log = logging.getLogger("wiggum.steps")
MOST_ERRORS = 6  # of one step, for reasons that nobody foresaw
_process = f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}"


def run_advance(run_id: int, options: StepOptions | None = None) -> StepResult | None:
    """One step of the run, or None when there is nothing to do: finished, paused, or somebody's."""
    taken = run_take(run_id)
    if taken is None:
        return None
    lease, began = taken.lease, time.monotonic()
    if lease.took_over and not may_try_again(lease):
        return None
    try:
        result = run_step(lease, options or StepOptions(actor="worker"), lease.run, told=taken.told)
        work_is_done()
    except Interrupt:
        # The worker stops, perhaps just after it has written that it would go on.
        if let_go(lease) or let_go(lease_after(lease, lease.run)):
            run_wake(lease.run_id)  # goes to another one
        return None
    except (DatabaseError, InterfaceError):
        let_go(lease)  # nothing is wrong with the run; the message is tried again
        raise
    except Exception as error:
        if give_up(lease, error):
            return None
        # Without a new message: this one is tried again later, and two for one failure would multiply.
        raise
    account(lease, result, time.monotonic() - began)
    pass_place_on(lease, result)
    return result


def run_take(run_id: int) -> Kept | None:
    """The run's lease: kept from the step before, or taken now; None when there is nothing to do."""
    kept = lease_kept(run_id)
    if kept is not None and (kept.is_fresh() or lease_renew(kept.lease)):
        return kept
    lease = lease_take(run_id, f"{_process}:{threading.get_ident()}")
    return None if lease is None else Kept(lease, told=False)


def leases_give_back() -> None:
    """When a worker has stopped: leases that it had kept for next steps go to others."""
    for kept in leases_kept():
        if let_go(kept.lease):
            run_wake(kept.lease.run_id)


def may_try_again(lease: Lease) -> bool:
    """Whether to go on with a step in which a worker was lost; else the run waits, or ends in ERROR."""
    crashes = lease.run.step_crashes
    try:
        if crashes >= MOST_CRASHES:
            log.error("run=%s ends after %s workers were lost in one step", lease.run_id, crashes)
            end_in_error(
                lease,
                f"{WORKER_LOST} {crashes} times during this step, so it is not tried again. It may have run "
                "out of memory. See the logs of the worker and of its system, then retry the run.",
            )
            return False
        if pause := crash_pause(crashes):
            log.warning("run=%s waits after %s workers were lost in one step", lease.run_id, crashes)
            Recorder(lease, lease.run, "worker", release=True).wait_after_crash(delay=pause)
            return False
    except LeaseLost:
        return False  # somebody cancelled, paused or took over meanwhile
    return True


def give_up(lease: Lease, error: Exception) -> bool:
    """Ends a run whose step failed too often in a way that nobody foresaw; else gives it back, and counts."""
    errors = lease.run.step_failures + 1
    if errors < MOST_ERRORS:
        let_go(lease, step_failures=errors)
        return False
    log.error("run=%s is given up after %s failures of one step", lease.run_id, errors, exc_info=error)
    why = (
        f"Stopped because a step failed {errors} times for a reason that Wiggum did not foresee "
        f"({type(error).__name__}). See the worker's log; when the cause is mended, retry the run."
    )
    with suppress(LeaseLost):  # somebody cancelled, paused or took over meanwhile
        end_in_error(lease, why)
    return True


def end_in_error(lease: Lease, why: str) -> None:
    """Ends the run as its holder; raises LeaseLost."""
    finish = Finish(Outcome.ERROR, StopReason.INTERNAL_ERROR, why, lease.run.best_round)
    Recorder(lease, lease.run, "worker", release=True).finish(finish)
    count("failures", "internal")


def let_go(lease: Lease, **fields: object) -> bool:
    """Gives the run back, so that nobody waits for the lease to run out; whether it was still held."""
    close_old_connections()  # where the error was that of a lost connection, a new one is made
    try:
        lease_release(lease, **fields)
    except (LeaseLost, DatabaseError, InterfaceError):
        return False
    return True


def pass_place_on(lease: Lease, result: StepResult) -> None:
    """The place that a call has left at its endpoint goes to the next run at once."""
    found_none = result.next_try_at is not None and not result.error
    if isinstance(result.step, Finish) or found_none:
        return
    place_offer(lease.run.judge_endpoint if isinstance(result.step, Judge) else lease.run.producer_endpoint)


def account(lease: Lease, result: StepResult, seconds: float) -> None:
    """A line in the log and the totals of the metrics page; the end of a run has its own wherever it came."""
    run, step = lease.run, result.step
    kind = "judge" if isinstance(step, Judge) else "finish" if isinstance(step, Finish) else "producer"
    model = {"judge": run.judge_model, "producer": run.producer_model}.get(kind, "-")
    if kind != "finish":
        count("model_seconds", kind, result.model_seconds)
        count("tokens", kind, result.tokens)
    if result.error:
        count("failures", result.error)
    note = f" error={result.error}" if result.error else " lost" if result.lost else ""
    tell_step(run.pk, getattr(step, "round", "-"), kind, model, result.tokens, seconds, note)
    if result.finish is not None and kind != "finish":
        tell_step(run.pk, "-", "finish", "-", 0, 0.0)


def tell_step(
    run_id: int, number: object, kind: str, model: str, tokens: int, seconds: float, note: str = ""
) -> None:
    count("steps", kind)
    count("step_seconds", kind, seconds)
    said = "step run=%s round=%s role=%s model=%s tokens=%s seconds=%.3f%s"
    log.info(said, run_id, number, kind, model, tokens, seconds, note)
