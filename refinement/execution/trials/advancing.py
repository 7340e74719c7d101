"""One call of a trial: taken, judged as a run's round is, written down once."""

import logging
import os
import random
import secrets
import socket
import threading
import time
from datetime import timedelta

from django.db import DatabaseError, InterfaceError, close_old_connections
from django.utils import timezone
from dramatiq.middleware import Interrupt

from refinement.broker.interrupting import work_is_done
from refinement.execution.leases import MOST_CRASHES, crash_pause
from refinement.execution.metrics import count
from refinement.execution.slots import PLACE_DELAY_SECONDS, place_offer
from refinement.execution.trials.judging import TrialAsked, TrialFailed, trial_ask
from refinement.execution.trials.leases import (
    TrialLease,
    TrialLost,
    trial_place_take,
    trial_release,
    trial_take,
)
from refinement.execution.trials.recording import (
    trial_ask_again,
    trial_done,
    trial_fail,
    trial_queue_for_place,
    trial_wait,
    trial_wait_after_crash,
)
from refinement.execution.trials.waking import trial_wake
from refinement.judging.templating import TemplateFailure
from refinement.models import BenchCall
from refinement.providers.base import Cancelled, ErrorKind, ProviderError
from refinement.providers.retrying import delay_before
from refinement.selectors.endpoints import endpoint_spec
from refinement.selectors.runs.live import WORKER_LOST

log = logging.getLogger("wiggum.bench")
_process = f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}"
ASKS = 3  # once, and twice again with the complaint, as in a run
TRIES = 4  # somebody is watching: a server that is away is given up after some seconds


def trial_advance(trial_id: int) -> bool:
    """One call of the trial; False when there is nothing to do: ended, or somebody's."""
    lease = trial_take(trial_id, f"{_process}:{threading.get_ident()}")
    if lease is None:
        return False
    began = time.monotonic()
    try:
        called = (not lease.took_over or may_try_again(lease)) and trial_step(lease)
        work_is_done()
    except (TrialLost, Cancelled):
        called = True
    except Interrupt:
        # The worker stops: the message that is sent now goes to another one.
        if let_go(lease):
            trial_wake(trial_id)
        return True
    except BaseException:
        # Without a new message: this one is tried again later, and two for one failure would multiply.
        let_go(lease)
        raise
    log.info("trial bench=%s trial=%s seconds=%.3f", lease.trial.bench_id, trial_id, time.monotonic() - began)
    if called:
        place_offer(lease.trial.bench.endpoint)
    return True


def may_try_again(lease: TrialLease) -> bool:
    """Whether to ask once more after a worker was lost; else the trial waits, or has failed."""
    crashes = lease.trial.crashes
    if crashes >= MOST_CRASHES:
        log.error("trial=%s fails after %s workers were lost", lease.trial_id, crashes)
        words = f"{WORKER_LOST} {crashes} times during this trial, so it is not tried again."
        trial_fail(lease, None, message=f"{words} See the worker's log, then start a new test.")
        return False
    if pause := crash_pause(crashes):
        trial_wait_after_crash(lease, delay=pause)
        return False
    return True


def trial_step(lease: TrialLease) -> bool:
    """Asks once and keeps what came of it; False when the endpoint had no place for the call."""
    bench = lease.trial.bench
    try:
        limit = endpoint_spec(bench.endpoint).concurrency
        if limit is not None and not trial_place_take(lease, bench.endpoint, limit):
            spread = 1 + random.random()  # noqa: S311  so that they do not all come at once
            delay = timedelta(seconds=PLACE_DELAY_SECONDS * spread)
            trial_queue_for_place(lease, endpoint=bench.endpoint, delay=delay)
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


def after_reply(lease: TrialLease, asked: TrialAsked) -> None:
    if asked.verdict is not None:
        trial_done(lease, asked)
    elif lease.trial.unreadable + 1 < ASKS:
        trial_ask_again(lease, asked.call)
    else:
        words = (
            f"The judge's reply could not be read after {ASKS} attempts; try another model. "
            f"It was told last: {asked.call.complaint}"
        )
        trial_fail(lease, asked.call, message=words, unreadable=lease.trial.unreadable + 1)


def after_failure(lease: TrialLease, failed: TrialFailed) -> None:
    """A call without a reply is kept; it is tried again a few times, then the trial is given up."""
    tries = lease.trial.failures + 1
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


def let_go(lease: TrialLease) -> bool:
    """Gives the trial back, so that nobody waits for the lease to run out; whether it was still held."""
    close_old_connections()  # where the error was that of a lost connection, a new one is made
    try:
        trial_release(lease)
    except (TrialLost, DatabaseError, InterfaceError):
        return False
    return True
