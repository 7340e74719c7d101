"""The producer step: a first draft, a revision, or the repair of an invalid candidate."""

from dataclasses import replace

from refinement.engine.types import Draft, History, Repair, Revise, Role, Round
from refinement.execution.calls import Caller, CallFailed, Request, Speaker
from refinement.execution.steps.recording import Recorder
from refinement.execution.windows import InstructionSize, max_reply_tokens, sources_size, window_for
from refinement.judging.candidates import read_candidate
from refinement.judging.context import Brief, ProducerView, producer_view, repair_view
from refinement.judging.prompts import producer_prompt
from refinement.models import Call, CallPurpose, ValidationResult
from refinement.providers.base import ErrorKind, ProviderError
from refinement.selectors.runs.history import command_output_of
from refinement.texts import storable

EMPTY = "The writer's reply was empty. Try another model or a longer reply limit."


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
    purpose = CallPurpose.DRAFT if isinstance(step, Draft) else CallPurpose.REVISE
    call, candidate = candidate_ask(caller, brief, producer_view(brief, history, step), step.round, purpose)
    base_round = None if isinstance(step, Draft) else step.base_round
    return recorder.candidate(
        call,
        number=step.round,
        candidate=candidate,
        base_round=base_round,
        feedback=None if isinstance(step, Draft) else step.feedback,
        after=replace(history, rounds=(*history.rounds, Round(step.round, candidate, None, base_round))),
    )


def candidate_repair(
    caller: Caller, recorder: Recorder, brief: Brief, history: History, step: Repair
) -> History:
    """Calls the producer to repair the round's candidate, once; returns the history after the step.

    The repair replaces the candidate before it is judged. Raises the same errors as `candidate_write`.
    """
    entry = history.rounds[-1]
    failed = ValidationResult.objects.get(round__run=caller.run, round__number=step.round, number=1)
    view = repair_view(brief, history, step, command_output_of(failed))
    call, candidate = candidate_ask(caller, brief, view, step.round, CallPurpose.REPAIR)
    repaired = replace(entry, candidate=candidate, invalid=False, repaired=True)
    return recorder.repair(
        call,
        number=step.round,
        candidate=candidate,
        after=replace(history, rounds=(*history.rounds[:-1], repaired)),
    )


def candidate_ask(
    caller: Caller, brief: Brief, view: ProducerView, number: int, purpose: str
) -> tuple[Call, str]:
    """Calls the producer; returns the unsaved call and the candidate in its reply."""
    with caller.heartbeat():
        prompt = producer_prompt(view)
    policy = brief.rubric.policy
    speaker = Speaker(Role.PRODUCER)
    window = window_for(caller, brief, speaker, number, purpose)
    request = Request(
        speaker=speaker,
        purpose=purpose,
        round_number=number,
        prompt=prompt,
        max_tokens=max_reply_tokens(
            prompt,
            policy.producer_tokens,
            window,
            instruction_size(view),
            role=Role.PRODUCER,
            sources=sources_size(brief, Role.PRODUCER),
        ),
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
    return call, candidate
