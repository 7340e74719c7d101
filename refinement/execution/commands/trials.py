"""Carries out evaluator trials: one run of a command on a text, under the trial's own lease."""

import logging
import random
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone
from dramatiq.middleware import Interrupt

from refinement.broker.interrupting import work_is_done
from refinement.engine.codec import rubric_from_json
from refinement.engine.types import Rubric
from refinement.execution.calls import control_of, stop_if_cancelled
from refinement.execution.cancelling import lease_checks
from refinement.execution.commands.reading import read_values
from refinement.execution.commands.running import (
    EVALUATOR_SLOT,
    CannotEvaluate,
    command_run,
    evaluator_job,
    output_values,
    readable,
)
from refinement.execution.leases import (
    MAX_CRASHES,
    Lease,
    LeaseLost,
    crash_pause,
    lease_drop,
    lease_release,
    lease_renew,
    lease_take,
    lease_write,
)
from refinement.execution.lost_connections import ignore_lost_connection, retry_lost_connection
from refinement.execution.slots import NoFreeSlot, waiting_label
from refinement.execution.steps.step import DEADLINE_SECONDS
from refinement.execution.waking import wake
from refinement.judging.contracts import contract_violation
from refinement.judging.isolation import while_waiting
from refinement.models import EvaluatorTrial, EvaluatorTrialResult, EvaluatorTrialStatus
from refinement.providers.base import Cancelled
from refinement.selectors.rubrics.commands import command_refusal
from refinement.selectors.runs.live.steps import WORKER_LOST

log = logging.getLogger("wiggum.steps")


def evaluator_trial_advance(trial_id: int) -> bool:
    """Runs the trial's command; False if there is nothing to do: it has ended, or a worker holds it.

    Safe to call any number of times for the same trial. Unexpected errors are raised, so that the message is
    retried.
    """
    lease = lease_take(EvaluatorTrial, trial_id)
    if lease is None:
        return False
    try:
        if not lease.took_over or may_try_again(lease):
            trial_run(lease)
        work_is_done()
    except (LeaseLost, Cancelled):
        log.info("evaluator trial=%s lost", trial_id)
    except Interrupt:
        # The worker is stopping: another one receives the new message.
        if lease_drop(lease):
            wake(EvaluatorTrial, trial_id)
    except BaseException:
        lease_drop(lease)  # no new message: Dramatiq retries this one
        raise
    return True


def may_try_again(lease: Lease[EvaluatorTrial]) -> bool:
    """Whether to retry after a worker crashed; if not, the trial waits or fails."""
    crashes = lease.row.crashes
    if crashes >= MAX_CRASHES:
        trial_fail(lease, f"{WORKER_LOST} {crashes} times during this trial, so it is not retried.")
        return False
    if pause := crash_pause(crashes):
        trial_wait(lease, delay=pause, reason=f"{WORKER_LOST} {crashes} times.")
        return False
    return True


def trial_run(lease: Lease[EvaluatorTrial]) -> None:
    """Runs the command and records its result, or why it was not run."""
    rubric = rubric_from_json(lease.row.definition)
    try:
        if refusal := command_refusal(rubric):
            raise CannotEvaluate(refusal)
        values = command_values(lease, rubric)
    except NoFreeSlot as full:
        delay = timedelta(seconds=full.delay_seconds * (1 + random.random()))  # noqa: S311  spreads them
        trial_wait(lease, delay=delay, reason=waiting_label(EVALUATOR_SLOT), waiting_endpoint=EVALUATOR_SLOT)
    except CannotEvaluate as problem:
        trial_fail(lease, str(problem))
    else:
        trial_done(lease, values)


def command_values(lease: Lease[EvaluatorTrial], rubric: Rubric) -> dict[str, Any]:
    """Runs the command under the lease, showing its last line; the fields of the result's row."""
    evaluator, text = rubric.evaluator, lease.row.text
    job = evaluator_job(evaluator, evaluator.command, text, evaluator.timeout)

    def show(line: str) -> None:
        with ignore_lost_connection():
            lease_write(lease, last_line=readable(line)[:200])

    with lease_checks.using(lease) as is_held:
        control = control_of(DEADLINE_SECONDS, is_held, lambda: lease_renew(lease))
        stop = partial(stop_if_cancelled, control)
        values = output_values(job, command_run(job, stop, show))
        with while_waiting(stop):
            found = read_values(rubric, values)
            return {**values, **found, "contract_violation": contract_violation(rubric, text)}


@retry_lost_connection
@transaction.atomic
def trial_done(lease: Lease[EvaluatorTrial], values: dict[str, Any]) -> None:
    """Ends the trial with its result; raises LeaseLost."""
    lease_release(lease, status=EvaluatorTrialStatus.DONE, finished_at=timezone.now())
    EvaluatorTrialResult.objects.create(trial_id=lease.row.pk, **values)


@retry_lost_connection
def trial_fail(lease: Lease[EvaluatorTrial], error: str) -> None:
    """Ends a trial that was not run; raises LeaseLost."""
    lease_release(lease, status=EvaluatorTrialStatus.FAILED, finished_at=timezone.now(), error=error)


@retry_lost_connection
@transaction.atomic
def trial_wait(
    lease: Lease[EvaluatorTrial], *, delay: timedelta, reason: str, waiting_endpoint: str = ""
) -> None:
    """Releases the trial; it tries again after `delay`."""
    until = timezone.now() + delay
    lease_release(
        lease,
        status=EvaluatorTrialStatus.WAITING,
        next_try_at=until,
        waiting_for=reason,
        waiting_endpoint=waiting_endpoint,
        woken_at=until,
    )
    wake(EvaluatorTrial, lease.row.pk, delay=delay)
