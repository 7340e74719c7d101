"""One call of a trial: taken, judged as a run's round is, written down once."""

import logging
import random
import time
from datetime import timedelta

from django.utils import timezone
from dramatiq.middleware import Interrupt

from refinement.broker.interrupting import work_is_done
from refinement.execution.leases import (
    MOST_CRASHES,
    Lease,
    LeaseLost,
    crash_pause,
    lease_drop,
    lease_take,
)
from refinement.execution.metrics import count
from refinement.execution.slots import RETRY_SECONDS, slot_offer, slot_take
from refinement.execution.trials.judging import TrialAsked, TrialFailed, trial_ask
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
from refinement.selectors.runs.live import WORKER_LOST

log = logging.getLogger("wiggum.bench")
ASKS = 3  # once, and twice again with the complaint, as in a run
TRIES = 4  # somebody is watching: a server that is away is given up after some seconds


def trial_advance(trial_id: int) -> bool:
    """One call of the trial; False when there is nothing to do: ended, or somebody's."""
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
        # The worker stops: the message that is sent now goes to another one.
        if lease_drop(lease):
            wake(BenchTrial, trial_id)
        return True
    except BaseException:
        # Without a new message: this one is tried again later, and two for one failure would multiply.
        lease_drop(lease)
        raise
    log.info("trial bench=%s trial=%s seconds=%.3f", lease.row.bench_id, trial_id, time.monotonic() - began)
    if called:
        slot_offer(lease.row.bench.endpoint)
    return True


def may_try_again(lease: Lease[BenchTrial]) -> bool:
    """Whether to ask once more after a worker was lost; else the trial waits, or has failed."""
    crashes = lease.row.crashes
    if crashes >= MOST_CRASHES:
        log.error("trial=%s fails after %s workers were lost", lease.row.pk, crashes)
        words = f"{WORKER_LOST} {crashes} times during this trial, so it is not tried again."
        trial_fail(lease, None, message=f"{words} See the worker's log, then start a new test.")
        return False
    if pause := crash_pause(crashes):
        trial_wait_after_crash(lease, delay=pause)
        return False
    return True


def trial_step(lease: Lease[BenchTrial]) -> bool:
    """Asks once and keeps what came of it; False when the endpoint had no place for the call."""
    bench = lease.row.bench
    try:
        limit = endpoint_spec(bench.endpoint).concurrency
        if limit is not None and not slot_take(lease, bench.endpoint, limit):
            spread = 1 + random.random()  # noqa: S311  so that they do not all come at once
            delay = timedelta(seconds=RETRY_SECONDS * spread)
            trial_queue_for_slot(lease, endpoint=bench.endpoint, delay=delay)
            return False
        asked = trial_ask(lease)
    except TrialFailed as failed:
        account(failed.call)
        after_failure(lease, failed)
    except ProviderError as error:
        # Refused before a call was made: there is nothing to keep and nothing to try again.
        trial_fail(lease, None, message=error.message)
    except TemplateFailure as failure:
        trial_fail(lease, None, message=str(failure))
    else:
        account(asked.call)
        after_reply(lease, asked)
    return True


def account(call: BenchCall) -> None:
    """The call in the totals of the metrics page, with those of the runs' judges."""
    count("model_seconds", "judge", float(call.seconds))
    count("tokens", "judge", call.prompt_tokens + call.completion_tokens)
    if call.error_kind:
        count("failures", call.error_kind)


def after_reply(lease: Lease[BenchTrial], asked: TrialAsked) -> None:
    if asked.verdict is not None:
        trial_done(lease, asked)
    elif lease.row.unreadable + 1 < ASKS:
        trial_ask_again(lease, asked.call)
    else:
        words = (
            f"The judge's reply could not be read after {ASKS} attempts; try another model. "
            f"It was told last: {asked.call.complaint}"
        )
        trial_fail(lease, asked.call, message=words, unreadable=lease.row.unreadable + 1)


def after_failure(lease: Lease[BenchTrial], failed: TrialFailed) -> None:
    """A call without a reply is kept; it is tried again a few times, then the trial is given up."""
    tries = lease.row.failures + 1
    delay = delay_before(tries, failed.error, random.random())  # noqa: S311  jitter, not a secret
    if delay is None or tries >= TRIES:
        trial_fail(lease, failed.call, message=given_up(failed.error, tries))
    else:
        until = timezone.now() + timedelta(seconds=delay)
        trial_wait(lease, failed.call, until=until, reason=failed.error.message)


def given_up(error: ProviderError, tries: int) -> str:
    if error.kind is ErrorKind.UNREACHABLE and tries > 1:
        return f"{error.message} It was tried {tries} times."
    return error.message
