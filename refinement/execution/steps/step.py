"""One step of a run: carried out and recorded."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from django.db import transaction
from django.utils import timezone

from refinement.engine.steps import next_step
from refinement.engine.types import (
    AskPlateau,
    BoardStep,
    Compose,
    Deliberate,
    Describe,
    Draft,
    Escalate,
    Finish,
    History,
    Judge,
    Merge,
    Repair,
    Revise,
    Role,
    Score,
    Step,
)
from refinement.execution.boards.steps import board_carry_out
from refinement.execution.calls import Caller, CallFailed, LocalResources, ignore_text
from refinement.execution.leases import LeaseLost, lease_write
from refinement.execution.slots import NoFreeSlot
from refinement.execution.steps.judging import JudgeGaveUp, round_judge
from refinement.execution.steps.producing import candidate_repair, candidate_write
from refinement.execution.steps.recording import Recorder
from refinement.judging.context import Brief
from refinement.judging.templating import TemplateFailure
from refinement.models import EventKind, Run
from refinement.providers.base import Cancelled, ErrorKind, ProviderError
from refinement.providers.retrying import delay_before
from refinement.selectors.runs.steering import instructions_waiting

DEADLINE_SECONDS = 600.0
WorkStep: TypeAlias = Draft | Judge | Repair | Revise | BoardStep | Describe
STEP_NAMES = {
    Draft: "draft",
    Judge: "judge",
    Repair: "repair",
    Revise: "revise",
    Compose: "compose",
    Score: "score",
    Deliberate: "deliberate",
    Merge: "merge",
    Describe: "describe",
}


@dataclass(frozen=True, slots=True)
class StepResult:
    """The outcome of a step."""

    step: Step | None = None
    history: History | None = None  # after the step; None if the run does not continue now
    finish: Finish | None = None
    next_try_at: datetime | None = None
    reason: str = ""
    error: str = ""  # the kind of provider error, if there was one
    lost: bool = False  # the lease was lost: the run was cancelled, paused or taken over
    tokens: int = 0
    model_seconds: float = 0.0
    seconds: float = 0.0
    endpoints: frozenset[str] = frozenset()  # that were called


def ignore_step(step: Step) -> None:
    """The default for `StepOptions.on_step`."""


def ignore_result(result: StepResult) -> None:
    """The default for `StepOptions.on_result`."""


def never() -> bool:
    return False


@dataclass(slots=True)
class StepOptions:
    """How steps are carried out: by a worker, or in the foreground."""

    actor: str = "command line"
    sends: bool = False  # queue a message for a run that has to wait; the foreground sleeps instead
    tries: int | None = None  # before giving up on an unreachable server; None never gives up
    deadline_seconds: float = DEADLINE_SECONDS
    on_step: Callable[[Step], None] = ignore_step
    on_text: Callable[[str], None] = ignore_text
    on_result: Callable[[StepResult], None] = ignore_result
    turn_over: Callable[[], bool] = never  # called after each step; True puts the run back in the queue
    local: LocalResources = field(default_factory=LocalResources)


def step_carry_out(
    recorder: Recorder, brief: Brief, history: History, step: Step, options: StepOptions
) -> StepResult:
    """Carries out one step and records its results.

    Expected failures (an unreachable server, an unreadable reply, a lost lease) are returned, not raised.
    """
    began, lease = time.monotonic(), recorder.lease
    caller = Caller(lease, options.deadline_seconds, options.on_text, options.local)
    try:
        if isinstance(step, Finish):
            recorder.finish(step)
            result = StepResult(step, finish=step)
        elif isinstance(step, Escalate):
            result = StepResult(step, recorder.escalate(step.round, after=history))
        elif isinstance(step, AskPlateau):
            recorder.ask_plateau(step.round)
            result = StepResult(step)
        elif isinstance(step, Revise) and pause_is_due(recorder.lease.row.pk):
            recorder.pause()
            result = StepResult()
        else:
            result = carry_out(
                caller, recorder, brief, history, with_instructions(recorder, brief, history, step), options
            )
    except (LeaseLost, Cancelled):
        return StepResult(step, lost=True)
    return replace(
        result,
        tokens=caller.tokens,
        model_seconds=caller.seconds,
        seconds=time.monotonic() - began,
        endpoints=frozenset(caller.endpoints),
    )


def pause_is_due(run_id: int) -> bool:
    """Whether a person asked meanwhile to pause the run after its round."""
    return Run.objects.filter(pk=run_id, pause_after_round=True).exists()


def claim_record(recorder: Recorder, step: Step) -> None:
    """Records that a worker has taken the run, and with which step it begins.

    The steps after it need no event of their own: each begins when the one before it is recorded.
    """
    if not isinstance(step, (Finish, Escalate, AskPlateau)):
        recorder.event(EventKind.CLAIMED, step=STEP_NAMES[type(step)], round=step.round)


def with_instructions(recorder: Recorder, brief: Brief, history: History, step: WorkStep) -> WorkStep:
    """The step; a revision with the instructions sent so far, which can no longer be withdrawn."""
    run_id = recorder.lease.row.pk
    if not isinstance(step, Revise) or not instructions_waiting(run_id):
        return step
    with transaction.atomic():
        # Locks the run's row: an instruction can be withdrawn before this, or no longer.
        lease_write(recorder.lease, wakes=0)
        instructions = instructions_waiting(run_id)
        revision = next_step(brief.rubric, replace(history, instructions=instructions))
        assert isinstance(revision, Revise)  # instructions change the feedback, never the kind of step
        numbers = [entry.number for entry in instructions]
        recorder.event(EventKind.CLAIMED, step="revise", round=step.round, instructions=numbers)
    return revision


def carry_out(
    caller: Caller,
    recorder: Recorder,
    brief: Brief,
    history: History,
    step: WorkStep,
    options: StepOptions,
) -> StepResult:
    role = role_of(step)
    try:
        if isinstance(step, Judge):
            after = round_judge(caller, recorder, brief, history, step)
        elif isinstance(step, Repair):
            after = candidate_repair(caller, recorder, brief, history, step)
        elif isinstance(step, (Draft, Revise)):
            after = candidate_write(caller, recorder, brief, history, step)
        else:
            after = board_carry_out(caller, recorder, brief, history, step)
        return StepResult(step, after)
    except NoFreeSlot as full:
        delay = timedelta(seconds=full.delay_seconds * (1 + random.random()))  # noqa: S311  spreads them
        until = recorder.queue_for_slot(endpoint=full.endpoint, delay=delay)
        return StepResult(step, next_try_at=until, reason=str(full))
    except CallFailed as failed:
        return after_failure(caller, recorder, history, step, failed, options)
    except ProviderError as error:
        # Refused before a call was made: nothing to record and nothing to retry.
        after = recorder.failure(None, role=role, message=error.message, after=history)
        return StepResult(step, after, error=error.kind.value)
    except (JudgeGaveUp, TemplateFailure) as gave_up:
        after = recorder.failure(None, role=role, message=str(gave_up), after=history)
        return StepResult(step, after)


def role_of(step: WorkStep) -> Role:
    """Whose model the step calls."""
    if isinstance(step, (Draft, Repair, Revise)):
        return Role.PRODUCER
    return Role.CLERK if isinstance(step, (Compose, Merge, Describe)) else Role.JUDGE


def after_failure(
    caller: Caller,
    recorder: Recorder,
    history: History,
    step: WorkStep,
    failed: CallFailed,
    options: StepOptions,
) -> StepResult:
    """Records a failed call; the run waits and retries, or the step fails."""
    error, tries = failed.error, caller.run.step_failures + 1
    delay = delay_before(tries, error, random.random())  # noqa: S311  jitter, not a secret
    out_of_tries = options.tries is not None and tries >= options.tries
    if delay is None or (out_of_tries and error.kind is ErrorKind.UNREACHABLE):
        role = Role(failed.call.role)
        after = recorder.failure(failed.call, role=role, message=error.message, after=history)
        return StepResult(step, after, error=error.kind.value)
    until = timezone.now() + timedelta(seconds=delay)
    recorder.waiting(failed.call, until=until, reason=error.message, endpoint=failed.call.endpoint)
    return StepResult(step, next_try_at=until, reason=error.message, error=error.kind.value)
