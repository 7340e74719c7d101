"""Asks a board's judges and the clerk until each reply can be read, or is given up."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from refinement.engine.types import History
from refinement.execution.boards.group import Arrived, CallGroup, slots_for
from refinement.execution.boards.recording import failed_call_record, unreadable_record
from refinement.execution.calls import Caller, CallFailed, Request
from refinement.execution.judging import ASKS, cut_off_complaint
from refinement.execution.recording import Recorder
from refinement.judging.boards.replies import Read
from refinement.judging.prompts import Prompt, retry_prompt
from refinement.models import Call
from refinement.providers.base import ProviderError
from refinement.providers.retrying import delay_before

# Records an answer with the call that gave it, and how many calls it took.
OnAnswer = Callable[[Call, Any, "Progress"], History]
# Records that there is no answer, and why. The call is None if it was recorded already.
OnProblem = Callable[[Call | None, str, "Progress"], History]


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of the step when an answer arrives: the history so far, and the slots still needed."""

    history: History
    slots: dict[str, int]
    asks: int


@dataclass(slots=True)
class Question:
    """One thing to ask: the first request, how to read its reply, and how to record the outcome."""

    request: Request
    read: Callable[[str], Read[Any]]
    on_answer: OnAnswer
    on_problem: OnProblem
    asks: int = field(default=0)

    @property
    def key(self) -> str:
        """Under which the run counts this question's unreadable replies."""
        return f"{self.request.purpose}:{self.request.speaker.seat}"


def ask_all(caller: Caller, recorder: Recorder, history: History, questions: Sequence[Question]) -> History:
    """Asks all questions at once and records each outcome as it arrives; returns the history after it.

    An unreadable reply is recorded, and the model is asked again with the complaint, three times in all.
    A question whose endpoint has no free slot is left for the next step. Raises NoFreeSlot if none has one,
    CallFailed if a call has to be retried later, and Cancelled or LeaseLost.
    """
    by_key = {question.key: question for question in questions}
    for question in questions:
        question.asks = caller.run.board_unreadable.get(question.key, 0)
        question.request = replace(question.request, prompt=conversation(caller, question))
    slots = slots_for(caller, [question.request for question in questions])
    failures: list[CallFailed] = []
    with CallGroup(caller, slots) as group:
        for question in questions:
            group.add(question.request)
        for arrived in group.arrivals():
            question = by_key[f"{arrived.request.purpose}:{arrived.request.speaker.seat}"]
            if isinstance(arrived.result, ProviderError):
                failure = caller.failed(arrived.prepared, arrived.result)
                if is_final(caller, arrived.result):
                    progress = Progress(history, group.needed(), question.asks)
                    history = question.on_problem(failure.call, arrived.result.message, progress)
                else:
                    failures.append(failure)
                continue
            history = reply_handle(caller, recorder, group, question, arrived, history)
    if failures:
        for failure in failures[:-1]:
            failed_call_record(recorder, failure.call, after=history)
        raise failures[-1]
    return history


def is_final(caller: Caller, error: ProviderError) -> bool:
    """Whether a call that failed like this is not retried: the judge is left out, and the run goes on."""
    return delay_before(caller.run.step_failures + 1, error, random.random()) is None  # noqa: S311  jitter


def reply_handle(
    caller: Caller,
    recorder: Recorder,
    group: CallGroup,
    question: Question,
    arrived: Arrived,
    history: History,
) -> History:
    reply = arrived.result
    assert not isinstance(reply, ProviderError)
    call = caller.replied(arrived.prepared, reply)
    found = question.read(reply.text)
    call.rung = found.rung.value if found.rung else ""
    call.thinking = call.thinking or found.thinking
    question.asks += 1
    if found.answer is not None:
        return question.on_answer(call, found.answer, Progress(history, group.needed(), question.asks))
    call.complaint = cut_off_complaint(found.complaint) if reply.cut else found.complaint
    if question.asks >= ASKS:
        progress = Progress(history, group.needed(), question.asks)
        return question.on_problem(
            call, f"No valid reply after {question.asks} tries. {call.complaint}", progress
        )
    history = unreadable_record(
        recorder, call, question.key, slots=group.needed(call.endpoint), after=history
    )
    question.request = replace(
        question.request, prompt=retry_prompt(question.request.prompt, call.reply, call.complaint)
    )
    group.add(question.request)
    return history


def conversation(caller: Caller, question: Question) -> Prompt:
    """The prompt with the question's unreadable replies so far."""
    prompt = question.request.prompt
    if not question.asks:
        return prompt
    request = question.request
    calls = Call.objects.filter(
        run=caller.run,
        round_number=request.round_number,
        purpose=request.purpose,
        seat=request.speaker.seat,
        error_kind="",
    ).order_by("-attempt")[: question.asks]
    for call in reversed(calls):
        prompt = retry_prompt(prompt, call.reply, call.complaint)
    return prompt
