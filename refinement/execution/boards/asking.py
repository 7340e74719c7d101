"""Asks a board's judges and the clerk until each reply can be read, or is given up."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from refinement.engine.types import History
from refinement.execution.boards.group import Arrived, CallGroup
from refinement.execution.boards.recording import failed_call_record, unreadable_record
from refinement.execution.calls import Caller, CallFailed, Request, Speaker
from refinement.execution.slots import NoFreeSlot
from refinement.execution.steps.judging import ASKS, cut_off_complaint
from refinement.execution.steps.recording import Recorder
from refinement.judging.boards.replies import Read
from refinement.judging.prompts import Prompt, retry_prompt
from refinement.models import Call
from refinement.providers.base import ProviderError, Reply
from refinement.providers.retrying import delay_before

# Records an answer with the call that gave it, and how many calls it took.
OnAnswer = Callable[[Call, Any, "Progress"], History]
# Records that there is no answer, and why. The call is None if none was made.
OnProblem = Callable[[Call | None, str, "Progress"], History]


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of the step when an answer arrives: the history so far, and the slots still needed."""

    history: History
    slots: dict[str, int]
    asks: int


@dataclass(slots=True)
class Question:
    """One thing to ask somebody: its request, how to read the reply, and how to record the outcome.

    `build` returns the first request. It raises CallFailed if the endpoint cannot be reached, and
    ProviderError if the question cannot be asked at all.
    """

    speaker: Speaker
    purpose: str
    build: Callable[[], Request]
    read: Callable[[str], Read[Any]]
    on_answer: OnAnswer
    on_problem: OnProblem
    asks: int = field(default=0)

    @property
    def key(self) -> str:
        """Under which the run counts this question's unreadable replies."""
        return f"{self.purpose}:{self.speaker.seat}"


def ask_all(caller: Caller, recorder: Recorder, history: History, questions: Sequence[Question]) -> History:
    """Asks all questions at once and records each outcome as it arrives; returns the history after it.

    An unreadable reply is recorded, and the model is asked again with the complaint, three times in all. A
    question that cannot be asked, or whose call fails for good, is recorded with its problem.

    A question whose endpoint has no free slot is left for the next step. Raises NoFreeSlot if that is so for
    all of them, CallFailed if a call has to be retried later, and Cancelled or LeaseLost.
    """
    asking = Asking(caller, recorder, history)
    requests = [(question, request) for question in questions if (request := asking.request_of(question))]
    if requests and not caller.run.is_finished:
        asking.ask(with_slots(caller, requests))
    return asking.end()


class Asking:
    """The questions of one step in progress: the history with the answers so far, and the failed calls."""

    def __init__(self, caller: Caller, recorder: Recorder, history: History) -> None:
        self.caller = caller
        self.recorder = recorder
        self.history = history
        self.failures: list[CallFailed] = []

    def request_of(self, question: Question) -> Request | None:
        """The question's next request, with its unreadable replies so far; None if it cannot be asked now."""
        question.asks = self.caller.run.board_unreadable.get(question.key, 0)
        try:
            request = question.build()
        except ProviderError as error:
            self.history = question.on_problem(None, error.message, Progress(self.history, {}, 0))
            return None
        except CallFailed as failure:
            self.failed(question, failure, {})
            return None
        return replace(request, prompt=conversation(self.caller, question, request))

    def ask(self, requests: Sequence[tuple[Question, Request]]) -> None:
        """Makes the calls and handles what arrives. A budget that is used up ends the run and the calls."""
        by_key = {question.key: question for question, _ in requests}
        with CallGroup(self.caller) as group:
            for _, request in requests:
                group.start(request)
            for arrived in group.arrivals():
                question = by_key[f"{arrived.request.purpose}:{arrived.request.speaker.seat}"]
                self.handle(group, question, arrived)
                if self.caller.run.is_finished:
                    return

    def end(self) -> History:
        """The history after the step. Raises CallFailed for a call to retry; further ones are recorded."""
        if self.failures and not self.caller.run.is_finished:
            for failure in self.failures[:-1]:
                failed_call_record(self.recorder, failure.call, after=self.history)
            raise self.failures[-1]
        return self.history

    def handle(self, group: CallGroup, question: Question, arrived: Arrived) -> None:
        if isinstance(arrived.result, ProviderError):
            failure = self.caller.failed(arrived.prepared, arrived.result)
            self.failed(question, failure, group.slots())
        else:
            self.replied(group, question, arrived, arrived.result)

    def failed(self, question: Question, failure: CallFailed, slots: dict[str, int]) -> None:
        """Keeps a failure for a later retry; one that is final leaves the judge or the clerk out."""
        tries = self.caller.run.step_failures + 1
        if delay_before(tries, failure.error, random.random()) is None:  # noqa: S311  jitter, not a secret
            progress = Progress(self.history, slots, question.asks)
            self.history = question.on_problem(failure.call, failure.error.message, progress)
        else:
            self.failures.append(failure)

    def replied(self, group: CallGroup, question: Question, arrived: Arrived, reply: Reply) -> None:
        call = self.caller.replied(arrived.prepared, reply)
        found = question.read(reply.text)
        call.rung = found.rung.value if found.rung else ""
        call.thinking = call.thinking or found.thinking
        question.asks += 1
        if found.answer is not None:
            progress = Progress(self.history, group.slots(), question.asks)
            self.history = question.on_answer(call, found.answer, progress)
            return
        call.complaint = cut_off_complaint(found.complaint) if reply.cut else found.complaint
        if question.asks >= ASKS:
            progress = Progress(self.history, group.slots(), question.asks)
            problem = f"No valid reply after {question.asks} tries. {call.complaint}"
            self.history = question.on_problem(call, problem, progress)
            return
        slots = group.slots(call.endpoint)
        self.history = unreadable_record(self.recorder, call, question.key, slots=slots, after=self.history)
        if not self.caller.run.is_finished:
            again = retry_prompt(arrived.request.prompt, call.reply, call.complaint)
            group.start(replace(arrived.request, prompt=again))


def with_slots(
    caller: Caller, requests: Sequence[tuple[Question, Request]]
) -> list[tuple[Question, Request]]:
    """The requests that get a slot at their endpoint now; raises NoFreeSlot if none of them does."""
    endpoints = [caller.target(request.speaker)[0] for _, request in requests]
    granted = Counter(caller.take_slots(Counter(endpoints)))
    found = []
    for endpoint, entry in zip(endpoints, requests, strict=True):
        if granted[endpoint] > 0:
            granted[endpoint] -= 1
            found.append(entry)
    if not found:
        raise NoFreeSlot(endpoints[0])
    return found


def conversation(caller: Caller, question: Question, request: Request) -> Prompt:
    """The request's prompt with the question's unreadable replies so far."""
    prompt = request.prompt
    if not question.asks:
        return prompt
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
