"""Carries out rubric proposals: the clerk reads a sample and proposes a rubric, under the row's own lease."""

import logging
import random
import time
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from dramatiq.middleware import Interrupt

from refinement.broker.interrupting import work_is_done
from refinement.engine.codec import rubric_to_json
from refinement.engine.types import Role
from refinement.execution.calls import control_of, fill, options_of
from refinement.execution.cancelling import lease_checks
from refinement.execution.leases import (
    MAX_CRASHES,
    Lease,
    LeaseLost,
    crash_pause,
    lease_drop,
    lease_release,
    lease_renew,
    lease_take,
)
from refinement.execution.lost_connections import retry_lost_connection
from refinement.execution.slots import RETRY_SECONDS, slot_offer, slots_take, waiting_label
from refinement.execution.steps.judging import ASKS, cut_off_complaint
from refinement.execution.steps.step import DEADLINE_SECONDS
from refinement.execution.waking import wake
from refinement.judging.prompts import retry_prompt
from refinement.judging.proposals import PROPOSAL_TOKENS, proposal_prompt, proposal_schema, read_proposal
from refinement.models import ProposalCall, ProposalStatus, RubricProposal
from refinement.pricing import cost_of
from refinement.providers.base import Cancelled, CompletionRequest, Message, ProviderError
from refinement.providers.context import context_tokens_for, text_size
from refinement.providers.registry import Target
from refinement.providers.retrying import delay_before
from refinement.selectors.endpoints import endpoint_spec, provider_for
from refinement.selectors.prices import prices_for
from refinement.selectors.runs.live.steps import WORKER_LOST
from refinement.texts import storable

log = logging.getLogger("wiggum.steps")
TRIES = 3  # a user is watching: give up on an unreachable server after some seconds
ASK_AGAIN_CHARS = 12_000


def proposal_advance(proposal_id: int) -> bool:
    """Makes one call of the proposal; False if there is nothing to do: it has ended, or a worker holds it.

    Safe to call any number of times for the same proposal. Unexpected errors are raised, so that the message
    is retried.
    """
    lease = lease_take(RubricProposal, proposal_id)
    if lease is None:
        return False
    try:
        if not lease.took_over or may_try_again(lease):
            proposal_step(lease)
        work_is_done()
    except (LeaseLost, Cancelled):
        log.info("proposal=%s lost", proposal_id)
    except Interrupt:
        # The worker is stopping: another one receives the new message.
        if lease_drop(lease):
            wake(RubricProposal, proposal_id)
        return True
    except BaseException:
        lease_drop(lease)  # no new message: Dramatiq retries this one
        raise
    slot_offer(lease.row.endpoint)
    return True


def may_try_again(lease: Lease[RubricProposal]) -> bool:
    """Whether to retry after a worker crashed; if not, the proposal waits or fails."""
    crashes = lease.row.crashes
    if crashes >= MAX_CRASHES:
        proposal_fail(lease, None, f"{WORKER_LOST} {crashes} times, so this is not retried.")
        return False
    if pause := crash_pause(crashes):
        proposal_wait(lease, None, delay=pause, reason=f"{WORKER_LOST} {crashes} times.")
        return False
    return True


def proposal_step(lease: Lease[RubricProposal]) -> None:
    """Calls the model once and records what came of it."""
    proposal = lease.row
    try:
        limit = endpoint_spec(proposal.endpoint).concurrency
        if not slots_take(lease, {proposal.endpoint: 1}, {proposal.endpoint: limit})[proposal.endpoint]:
            delay = timedelta(seconds=RETRY_SECONDS * (1 + random.random()))  # noqa: S311  spreads them
            proposal_wait(lease, None, delay=delay, reason=waiting_label(proposal.endpoint))
            return
        call, text, cut = proposal_ask(lease)
    except ProposalFailed as failed:
        after_failure(lease, failed)
        return
    found = read_proposal(text, proposal.goal)
    call.rung = found.rung.value if found.rung else ""
    call.thinking = call.thinking or storable(found.thinking)
    if found.answer is not None:
        proposal_end(lease, call, status=ProposalStatus.DONE, definition=rubric_to_json(found.answer))
        return
    call.complaint = storable(cut_off_complaint(found.complaint) if cut else found.complaint)
    if call.number >= ASKS + proposal.failures:
        proposal_fail(
            lease, call, f"{proposal.model} did not return a usable rubric ({ASKS} tries). {call.complaint}"
        )
    else:
        proposal_wait(lease, call, delay=timedelta(), reason="")


class ProposalFailed(Exception):
    """A call without a reply: its unsaved row and the provider's error."""

    def __init__(self, call: ProposalCall, error: ProviderError) -> None:
        super().__init__(error.message)
        self.call = call
        self.error = error


def proposal_ask(lease: Lease[RubricProposal]) -> tuple[ProposalCall, str, bool]:
    """Calls the model; the unsaved row, the reply's text and whether it was cut off."""
    proposal, clock = lease.row, time.monotonic()
    prompt = proposal_prompt(proposal.sample, proposal.goal, proposal.nonce)
    earlier = list(proposal.calls.order_by("number"))
    for call in earlier:
        if not call.error_kind:
            prompt = retry_prompt(prompt, call.reply, call.complaint)
    call = ProposalCall(proposal=proposal, number=len(earlier) + 1, started_at=timezone.now(), messages=[])
    try:
        provider = provider_for(proposal.endpoint)
        known = provider.model_info(proposal.model).context_length
        size = sum(text_size(message.content) for message in prompt.messages)
        request = CompletionRequest(
            model=proposal.model,
            messages=[Message(message.role, message.content) for message in prompt.messages],
            max_tokens=PROPOSAL_TOKENS,
            context_tokens=context_tokens_for(size + ASK_AGAIN_CHARS, PROPOSAL_TOKENS, known),
            schema=proposal_schema(),
            role=Role.CLERK.value,
        )
        call.messages = [{"role": m.role, "content": storable(m.content)} for m in request.messages]
        call.options = options_of(request)
        with lease_checks.using(lease) as is_held:
            control = control_of(DEADLINE_SECONDS, is_held, lambda: lease_renew(lease))
            reply = provider.complete(request, control)
    except ProviderError as error:
        call.error_kind, call.error_message = error.kind.value, storable(error.message)
        finish(call, time.monotonic() - clock)
        raise ProposalFailed(call, error) from error
    fill(call, reply)
    prices = prices_for([Target(proposal.endpoint, proposal.model)])
    call.cost = cost_of(prices, proposal.endpoint, proposal.model, call.prompt_tokens, call.completion_tokens)
    finish(call, reply.seconds or time.monotonic() - clock)
    return call, reply.text, reply.cut


def finish(call: ProposalCall, seconds: float) -> None:
    call.finished_at = timezone.now()
    call.seconds = round(seconds, 3)


def after_failure(lease: Lease[RubricProposal], failed: ProposalFailed) -> None:
    """Records a failed call; the proposal waits and retries a few times, then it fails."""
    tries = lease.row.failures + 1
    delay = delay_before(tries, failed.error, random.random())  # noqa: S311  jitter, not a secret
    if delay is None or tries >= TRIES:
        proposal_fail(lease, failed.call, failed.error.message)
    else:
        wait = timedelta(seconds=delay)
        proposal_wait(lease, failed.call, delay=wait, reason=failed.error.message, failures=tries)


def proposal_fail(lease: Lease[RubricProposal], call: ProposalCall | None, error: str) -> None:
    proposal_end(lease, call, status=ProposalStatus.FAILED, error=storable(error))


@retry_lost_connection
@transaction.atomic
def proposal_end(lease: Lease[RubricProposal], call: ProposalCall | None, **fields: Any) -> None:
    """Ends the proposal; raises LeaseLost."""
    lease_release(lease, finished_at=timezone.now(), **fields)
    if call is not None:
        call.save()


@retry_lost_connection
@transaction.atomic
def proposal_wait(
    lease: Lease[RubricProposal],
    call: ProposalCall | None,
    *,
    delay: timedelta,
    reason: str,
    **fields: Any,
) -> None:
    """Releases the proposal; it is tried again after `delay`."""
    until = timezone.now() + delay
    lease_release(
        lease,
        status=ProposalStatus.WAITING if reason else ProposalStatus.QUEUED,
        next_try_at=until if reason else None,
        waiting_for=storable(reason),
        waiting_endpoint=lease.row.endpoint if reason else "",
        woken_at=until,
        **fields,
    )
    if call is not None:
        call.save()
    wake(RubricProposal, lease.row.pk, delay=delay)
