"""Advances a bench trial: one judge call per message, judged as in a run."""

import logging
import random
import time
from datetime import timedelta

from django.utils import timezone
from dramatiq.middleware import Interrupt

from refinement.broker.interrupting import work_is_done
from refinement.execution.leases import (
    MAX_CRASHES,
    Lease,
    LeaseLost,
    crash_pause,
    lease_drop,
    lease_take,
)
from refinement.execution.metrics import count
from refinement.execution.slots import RETRY_SECONDS, slot_offer, slots_take
from refinement.execution.trials.judging import TrialFailed, TrialReply, trial_ask
from refinement.execution.trials.recording import (
    trial_ask_again,
    trial_done,
    trial_fail,
    trial_queue_for_slot,
    trial_wait,
    trial_wait_after_crash,
)
from refinement.execution.waking import wake
from refinement.judging.templating import TemplateFailure
from refinement.models import BenchCall, BenchTrial
from refinement.providers.base import Cancelled, ErrorKind, ProviderError
from refinement.providers.retrying import delay_before
from refinement.selectors.endpoints import endpoint_spec
from refinement.selectors.runs.live.steps import WORKER_LOST

log = logging.getLogger("wiggum.bench")
ASKS = 3  # one call, and two retries that quote the complaint, as in a run
TRIES = 4  # a user is watching: give up on an unreachable server after some seconds


def trial_advance(trial_id: int) -> bool:
    """Makes one call of the trial; False if there is nothing to do: it has ended, or a worker holds it.

    Safe to call any number of times for the same trial. Unexpected errors are raised, so that the message is
    retried.
    """
    lease = lease_take(BenchTrial, trial_id)
    if lease is None:
        return False
    began = time.monotonic()
    try:
        called = (not lease.took_over or may_try_again(lease)) and trial_step(lease)
        work_is_done()
    except (LeaseLost, Cancelled):
        called = True
    except Interrupt:
        # The worker is stopping: another one receives the new message.
        if lease_drop(lease):
            wake(BenchTrial, trial_id)
        return True
    except BaseException:
        # No new message: Dramatiq retries this one, and a second one would multiply with each failure.
        lease_drop(lease)
        raise
    log.info("trial bench=%s trial=%s seconds=%.3f", lease.row.bench_id, trial_id, time.monotonic() - began)
    if called:
        slot_offer(lease.row.endpoint)
    return True


def may_try_again(lease: Lease[BenchTrial]) -> bool:
    """Whether to retry after a worker crashed; if not, the trial waits or fails."""
    crashes = lease.row.crashes
    if crashes >= MAX_CRASHES:
        log.error("trial=%s failed: %s workers crashed", lease.row.pk, crashes)
        message = f"{WORKER_LOST} {crashes} times during this trial, so it is not retried."
        trial_fail(lease, None, message=f"{message} Check the worker's log, then start a new test.")
        return False
    if pause := crash_pause(crashes):
        trial_wait_after_crash(lease, delay=pause)
        return False
    return True


def trial_step(lease: Lease[BenchTrial]) -> bool:
    """Calls the judge once and records the result; False if the endpoint had no free slot."""
    endpoint = lease.row.endpoint
    try:
        limits = {endpoint: endpoint_spec(endpoint).concurrency}
        if not slots_take(lease, {endpoint: 1}, limits)[endpoint]:
            spread = 1 + random.random()  # noqa: S311  jitter, not a secret
            delay = timedelta(seconds=RETRY_SECONDS * spread)
            trial_queue_for_slot(lease, endpoint=endpoint, delay=delay)
            return False
        reply = trial_ask(lease)
    except TrialFailed as failed:
        account(failed.call)
        after_failure(lease, failed)
    except ProviderError as error:
        # Refused before a call was made: nothing to record and nothing to retry.
        trial_fail(lease, None, message=error.message)
    except TemplateFailure as failure:
        trial_fail(lease, None, message=str(failure))
    else:
        account(reply.call)
        after_reply(lease, reply)
    return True


def account(call: BenchCall) -> None:
    """Counts the call in the metrics, together with the judge calls of runs."""
    count("model_seconds", "judge", float(call.seconds))
    count("tokens", "judge", call.prompt_tokens + call.completion_tokens)
    if call.error_kind:
        count("failures", call.error_kind)


def after_reply(lease: Lease[BenchTrial], reply: TrialReply) -> None:
    if reply.verdict is not None:
        trial_done(lease, reply)
    elif lease.row.unreadable + 1 < ASKS:
        trial_ask_again(lease, reply.call)
    else:
        message = (
            f"The judge's reply could not be read after {ASKS} attempts; try another model. "
            f"Last problem: {reply.call.complaint}"
        )
        trial_fail(lease, reply.call, message=message, unreadable=lease.row.unreadable + 1)


def after_failure(lease: Lease[BenchTrial], failed: TrialFailed) -> None:
    """Records a failed call; the trial waits and retries.

    A person's test gives up after a few tries. A measurement waits for its server, as a run does.
    """
    tries = lease.row.failures + 1
    may_give_up = not lease.row.bench.fingerprint
    delay = delay_before(tries, failed.error, random.random())  # noqa: S311  jitter, not a secret
    if delay is None or (may_give_up and tries >= TRIES):
        trial_fail(lease, failed.call, message=failure_message(failed.error, tries))
    else:
        until = timezone.now() + timedelta(seconds=delay)
        trial_wait(lease, failed.call, until=until, reason=failed.error.message)


def failure_message(error: ProviderError, tries: int) -> str:
    if error.kind is ErrorKind.UNREACHABLE and tries > 1:
        return f"{error.message} Tried {tries} times."
    return error.message
