"""The producer step: a first draft or a revision."""

from dataclasses import replace

from refinement.engine.types import Draft, History, Revise, Role, Round
from refinement.execution.calls import Caller, CallFailed, Request
from refinement.execution.recording import Recorder
from refinement.execution.windows import InstructionSize, max_reply_tokens, window_for
from refinement.judging.candidates import read_candidate
from refinement.judging.context import Brief, ProducerView, producer_view
from refinement.judging.prompts import producer_prompt
from refinement.providers.base import ErrorKind, ProviderError
from refinement.texts import storable

EMPTY = "The producer's reply was empty. Try another model or a longer reply limit."


def instruction_size(view: ProducerView) -> InstructionSize | None:
    """The size of the revision's instructions; None if it has none."""
    if not view.instructions:
        return None
    return InstructionSize(sum(len(entry.text) for entry in view.instructions), len(view.candidate or ""))


def candidate_write(
    caller: Caller, recorder: Recorder, brief: Brief, history: History, step: Draft | Revise
) -> History:
    """Calls the producer for the round's candidate and records it; returns the history after the step.

    Raises CallFailed, also for an empty reply, and ProviderError, NoFreeSlot, Cancelled or LeaseLost.
    """
    view = producer_view(brief, history, step)
    with caller.heartbeat():
        prompt = producer_prompt(view)
    policy = brief.rubric.policy
    window = window_for(caller, brief, Role.PRODUCER)
    request = Request(
        role=Role.PRODUCER,
        round_number=step.round,
        prompt=prompt,
        max_tokens=max_reply_tokens(prompt, policy.producer_tokens, window, instruction_size(view)),
        temperature=float(policy.producer_temperature),
        context_tokens=window,
        seen=[kind.value for kind in view.seen],
        withheld=[kind.value for kind in view.withheld],
    )
    call, reply = caller.ask(request)
    candidate = storable(read_candidate(reply.text))
    if not candidate:
        call.error_kind, call.error_message = ErrorKind.BAD_REPLY.value, EMPTY
        raise CallFailed(call, ProviderError(ErrorKind.BAD_REPLY, EMPTY, retryable=True))
    base_round = None if isinstance(step, Draft) else step.base_round
    return recorder.candidate(
        call,
        number=step.round,
        candidate=candidate,
        base_round=base_round,
        feedback=None if isinstance(step, Draft) else step.feedback,
        after=replace(history, rounds=(*history.rounds, Round(step.round, candidate, None, base_round))),
    )
