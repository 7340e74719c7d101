"""A worker's part: take a run that is due, carry out its steps, account for them."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from django.db import DatabaseError, InterfaceError
from dramatiq.middleware import Interrupt

from refinement.broker.interrupting import uninterrupted, work_is_done
from refinement.engine.types import Finish, Judge, Outcome, StopReason
from refinement.execution.leases import (
    MOST_CRASHES,
    Lease,
    LeaseLost,
    crash_pause,
    lease_drop,
    lease_take,
)
from refinement.execution.loop import run_loop
from refinement.execution.metrics import count
from refinement.execution.recording import Recorder
from refinement.execution.slots import slot_offer
from refinement.execution.step import StepOptions, StepResult
from refinement.execution.waking import wake, work_is_waiting
from refinement.models import Run
from refinement.selectors.runs.live import WORKER_LOST

log = logging.getLogger("wiggum.steps")
MOST_ERRORS = 6  # of one step, for reasons that nobody foresaw
CHECK_EVERY = 0.25  # seconds between two queries for other work, as long as there is none
TURN_SECONDS = 600.0  # RabbitMQ takes a message back that stays unacknowledged for half an hour


def run_advance(run_id: int, turn_over: Callable[[], bool] | None = None) -> StepResult | None:
    """Carries the run on for one turn: until it ends or waits, until others wait, or for ten minutes.

    Returns the last step's result, or None when there is nothing to do: the run is finished, paused or held
    by another worker. `turn_over` is asked after each step, in place of the usual rule.
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
        # The worker stops, or a step hangs: another thread goes on.
        if lease_drop(lease):
            wake(Run, run_id)
        return None
    except (DatabaseError, InterfaceError):
        lease_drop(lease)  # nothing is wrong with the run; the message is tried again
        raise
    except Exception as error:
        if give_up(lease, error):
            return None
        # Without a new message: this one is tried again later, and two for one failure would multiply.
        raise


class Turn:
    """How long a worker thread stays with one run: until other work waits, and ten minutes at most."""

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
    """Accounts for a step. Raises Shutdown if the worker was told to stop meanwhile."""
    with uninterrupted():
        account(lease, result)
        pass_slot_on(lease, result)


def may_try_again(lease: Lease[Run]) -> bool:
    """Whether to go on with a step in which a worker was lost; else the run waits, or ends in ERROR."""
    crashes = lease.row.crashes
    try:
        if crashes >= MOST_CRASHES:
            log.error("run=%s ends after %s workers were lost in one step", lease.row.pk, crashes)
            end_in_error(
                lease,
                f"{WORKER_LOST} {crashes} times during this step, so it is not tried again. It may have run "
                "out of memory. See the logs of the worker and of its system, then retry the run.",
            )
            return False
        if pause := crash_pause(crashes):
            log.warning("run=%s waits after %s workers were lost in one step", lease.row.pk, crashes)
            Recorder(lease, None, "worker", sends=True).wait_after_crash(delay=pause)
            return False
    except LeaseLost:
        return False  # somebody cancelled, paused or took over meanwhile
    return True


def give_up(lease: Lease[Run], error: Exception) -> bool:
    """Ends a run whose step failed too often in a way that nobody foresaw; else gives it back, and counts."""
    errors = lease.row.step_failures + 1
    if errors < MOST_ERRORS:
        lease_drop(lease, step_failures=errors)
        return False
    log.error("run=%s is given up after %s failures of one step", lease.row.pk, errors, exc_info=error)
    why = (
        f"Stopped because a step failed {errors} times for a reason that Wiggum did not foresee "
        f"({type(error).__name__}). See the worker's log; when the cause is mended, retry the run."
    )
    with suppress(LeaseLost):  # somebody cancelled, paused or took over meanwhile
        end_in_error(lease, why)
    return True


def end_in_error(lease: Lease[Run], why: str) -> None:
    """Ends the run as its holder; raises LeaseLost."""
    finish = Finish(Outcome.ERROR, StopReason.INTERNAL_ERROR, why, lease.row.best_round)
    Recorder(lease, None, "worker", sends=True).finish(finish)
    count("failures", "internal")


def pass_slot_on(lease: Lease[Run], result: StepResult) -> None:
    """The place that a call has left at its endpoint goes to the next run at once."""
    found_none = result.next_try_at is not None and not result.error
    if isinstance(result.step, Finish) or found_none:
        return
    slot_offer(lease.row.judge_endpoint if isinstance(result.step, Judge) else lease.row.producer_endpoint)


def account(lease: Lease[Run], result: StepResult) -> None:
    """A line in the log and the totals of the metrics page."""
    run, step = lease.row, result.step
    kind = "judge" if isinstance(step, Judge) else "finish" if isinstance(step, Finish) else "producer"
    model = {"judge": run.judge_model, "producer": run.producer_model}.get(kind, "-")
    if kind != "finish":
        count("model_seconds", kind, result.model_seconds)
        count("tokens", kind, result.tokens)
    if result.error:
        count("failures", result.error)
    count("steps", kind)
    count("step_seconds", kind, result.seconds)
    note = f" error={result.error}" if result.error else " lost" if result.lost else ""
    said = "step run=%s round=%s role=%s model=%s tokens=%s seconds=%.3f%s"
    number = getattr(step, "round", "-")
    log.info(said, run.pk, number, kind, model, result.tokens, result.seconds, note)
