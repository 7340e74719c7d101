"""Advances a run in a worker: takes its lease, carries out steps, logs them and handles errors."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from django.db import DatabaseError, InterfaceError
from dramatiq.middleware import Interrupt

from refinement.broker.interrupting import uninterrupted, work_is_done
from refinement.engine.types import Finish, Outcome, StopReason
from refinement.execution.leases import (
    MAX_CRASHES,
    Lease,
    LeaseLost,
    crash_pause,
    lease_drop,
    lease_take,
)
from refinement.execution.loop import run_loop
from refinement.execution.metrics import count
from refinement.execution.slots import slot_offer
from refinement.execution.steps.recording import Recorder
from refinement.execution.steps.step import StepOptions, StepResult, WorkStep, role_of
from refinement.execution.waking import wake, work_is_waiting
from refinement.models import Run
from refinement.selectors.runs.live.steps import WORKER_LOST

log = logging.getLogger("wiggum.steps")
MAX_ERRORS = 6  # unexpected errors in one step
CHECK_EVERY = 0.4  # seconds between two queries for other work, as long as there is none
TURN_SECONDS = 600.0  # then the run goes back into the queue, so that messages stay short


def run_advance(run_id: int, turn_over: Callable[[], bool] | None = None) -> StepResult | None:
    """Carries out steps of the run until it ends or waits, other work is waiting, or ten minutes passed.

    Returns the last step's result, or None if there is nothing to do: the run is finished, paused or held
    by another worker. `turn_over` replaces the rule for when to stop; it is called after each step.

    Safe to call any number of times for the same run. Raises database errors and unexpected ones, so that
    the message is retried; after MAX_ERRORS unexpected errors in one step, the run ends in ERROR instead.
    """
    lease = lease_take(Run, run_id)
    if lease is None or (lease.took_over and not may_try_again(lease)):
        return None
    options = StepOptions(
        actor="worker",
        sends=True,
        on_result=partial(after_step, lease),
        turn_over=turn_over or Turn().is_over,
    )
    try:
        result = run_loop(lease, options)
        work_is_done()
        return result
    except Interrupt:
        # The worker is stopping, or the step hangs: another thread continues.
        if lease_drop(lease):
            wake(Run, run_id)
        return None
    except (DatabaseError, InterfaceError):
        lease_drop(lease)  # not the run's fault; the message is retried
        raise
    except Exception as error:
        if give_up(lease, error):
            return None
        # No new message: Dramatiq retries this one, and a second one would multiply with each failure.
        raise


class Turn:
    """How long a worker thread stays with one run: until other work is waiting, ten minutes at most."""

    _nothing_waited = float("-inf")  # when a thread of this process last found no other work

    def __init__(self) -> None:
        self.until = time.monotonic() + TURN_SECONDS

    def is_over(self) -> bool:
        now = time.monotonic()
        if now >= self.until:
            return True
        if now - Turn._nothing_waited < CHECK_EVERY:
            return False
        if work_is_waiting():
            return True
        Turn._nothing_waited = now
        return False


def after_step(lease: Lease[Run], result: StepResult) -> None:
    """Logs a step and wakes the next run for its slot. Raises Shutdown if the worker is stopping."""
    with uninterrupted():
        account(lease, result)
        pass_slot_on(lease, result)


def may_try_again(lease: Lease[Run]) -> bool:
    """Whether to retry a step in which a worker crashed; if not, the run waits or ends in ERROR."""
    crashes = lease.row.crashes
    try:
        if crashes >= MAX_CRASHES:
            log.error("run=%s failed: %s workers crashed in one step", lease.row.pk, crashes)
            end_in_error(
                lease,
                f"{WORKER_LOST} {crashes} times during this step, so it is not retried automatically. It may "
                "have run out of memory. Check the logs of the worker and of its system, then retry the run.",
            )
            return False
        if pause := crash_pause(crashes):
            log.warning("run=%s is waiting: %s workers crashed in one step", lease.row.pk, crashes)
            Recorder(lease, None, "worker", sends=True).wait_after_crash(delay=pause)
            return False
    except LeaseLost:
        return False  # cancelled, paused or taken over in the meantime
    return True


def give_up(lease: Lease[Run], error: Exception) -> bool:
    """Counts an unexpected error and releases the lease; ends the run if there were too many.

    Returns whether the run has ended.
    """
    errors = lease.row.step_failures + 1
    if errors < MAX_ERRORS:
        lease_drop(lease, step_failures=errors)
        return False
    log.error("run=%s failed: %s unexpected errors in one step", lease.row.pk, errors, exc_info=error)
    why = (
        f"Stopped: a step failed {errors} times with an unexpected error ({type(error).__name__}). "
        "Check the worker's log, fix the cause, then retry the run."
    )
    with suppress(LeaseLost):  # cancelled, paused or taken over in the meantime
        end_in_error(lease, why)
    return True


def end_in_error(lease: Lease[Run], why: str) -> None:
    """Ends the run with outcome ERROR; raises LeaseLost."""
    finish = Finish(Outcome.ERROR, StopReason.INTERNAL_ERROR, why, lease.row.best_round)
    Recorder(lease, None, "worker", sends=True).finish(finish)
    count("failures", "internal")


def pass_slot_on(lease: Lease[Run], result: StepResult) -> None:
    """Wakes the next run that waits for the slot that the step's call has freed."""
    had_no_slot = result.next_try_at is not None and not result.error
    if isinstance(result.step, Finish) or had_no_slot:
        return
    for endpoint in result.endpoints:
        slot_offer(endpoint, after=lease.row.pk)


def account(lease: Lease[Run], result: StepResult) -> None:
    """Logs the step and counts it in the metrics."""
    run, step = lease.row, result.step
    called = isinstance(step, WorkStep)
    kind = role_of(step).value if isinstance(step, WorkStep) else "finish"
    model = {"judge": run.judge_model, "producer": run.producer_model, "clerk": run.clerk_model}.get(
        kind, "-"
    )
    if called:
        count("model_seconds", kind, result.model_seconds)
        count("tokens", kind, result.tokens)
    if result.error:
        count("failures", result.error)
    count("steps", kind)
    count("step_seconds", kind, result.seconds)
    note = f" error={result.error}" if result.error else " lost" if result.lost else ""
    message = "step run=%s round=%s role=%s model=%s tokens=%s seconds=%.3f%s"
    number = getattr(step, "round", "-")
    log.info(message, run.pk, number, kind, model, result.tokens, result.seconds, note)
