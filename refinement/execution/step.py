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
from refinement.engine.types import Draft, Finish, History, Judge, Revise, Role, Step
from refinement.execution.calls import Caller, CallFailed, Local, ignore_text
from refinement.execution.judging import JudgeGaveUp, round_judge
from refinement.execution.leases import LeaseLost, lease_write
from refinement.execution.producing import candidate_write
from refinement.execution.recording import Recorder
from refinement.execution.slots import NoFreeSlot
from refinement.judging.context import Brief
from refinement.judging.templating import TemplateFailure
from refinement.models import EventKind
from refinement.providers.base import Cancelled, ErrorKind, ProviderError
from refinement.providers.retrying import delay_before
from refinement.selectors.runs.steering import instructions_waiting

DEADLINE_SECONDS = 600.0
Working: TypeAlias = Draft | Judge | Revise
STEP_NAMES = {Draft: "draft", Judge: "judge", Revise: "revise"}


@dataclass(frozen=True, slots=True)
class StepResult:
    """What became of a step."""

    step: Step | None = None
    history: History | None = None  # after the step; None if the run does not go on from here now
    finish: Finish | None = None
    next_try_at: datetime | None = None
    reason: str = ""
    error: str = ""  # the kind of the provider's error, where there was one
    lost: bool = False  # the lease: somebody cancelled, paused or took over the run
    tokens: int = 0
    model_seconds: float = 0.0
    seconds: float = 0.0


def ignore_step(step: Step) -> None:
    """For those who do not watch."""


def ignore_result(result: StepResult) -> None:
    """For those who keep no account."""


def never() -> bool:
    return False


@dataclass(slots=True)
class StepOptions:
    """How steps are carried out: by a worker, or in somebody's foreground."""

    actor: str = "command line"
    sends: bool = False  # send a message for a run that has to wait; the foreground waits itself
    tries: int | None = None  # give up on an unreachable server after so many; None waits for it
    deadline_seconds: float = DEADLINE_SECONDS
    on_step: Callable[[Step], None] = ignore_step
    on_text: Callable[[str], None] = ignore_text
    on_result: Callable[[StepResult], None] = ignore_result
    turn_over: Callable[[], bool] = never  # asked after each step: whether to let others have the thread
    local: Local = field(default_factory=Local)


def step_carry_out(
    recorder: Recorder, brief: Brief, history: History, step: Step, options: StepOptions
) -> StepResult:
    """Carries out one step and records what it brought; every outcome but a bug comes as a result."""
    began, lease = time.monotonic(), recorder.lease
    caller = Caller(lease.row, lease, options.deadline_seconds, options.on_text, options.local)
    try:
        if isinstance(step, Finish):
            recorder.finish(step)
            result = StepResult(step, finish=step)
        else:
            result = carry_out(
                caller, recorder, brief, history, begin(recorder, brief, history, step), options
            )
    except (LeaseLost, Cancelled):
        return StepResult(step, lost=True)
    return replace(
        result, tokens=caller.tokens, model_seconds=caller.seconds, seconds=time.monotonic() - began
    )


def begin(recorder: Recorder, brief: Brief, history: History, step: Working) -> Working:
    """Says that the step has begun; a revision takes along what people have asked for until now."""
    run_id = recorder.lease.row.pk
    if not isinstance(step, Revise) or not instructions_waiting(run_id):
        recorder.event(EventKind.CLAIMED, step=STEP_NAMES[type(step)], round=step.round)
        return step
    with transaction.atomic():
        # Holds the run's row: whoever withdraws an instruction comes before this or is told no.
        lease_write(recorder.lease, wakes=0)
        told = instructions_waiting(run_id)
        steered = next_step(brief.rubric, replace(history, instructions=told))
        assert isinstance(steered, Revise)  # what people say changes what is told, never what comes next
        numbers = [entry.number for entry in told]
        recorder.event(EventKind.CLAIMED, step="revise", round=step.round, instructions=numbers)
    return steered


def carry_out(
    caller: Caller,
    recorder: Recorder,
    brief: Brief,
    history: History,
    step: Working,
    options: StepOptions,
) -> StepResult:
    role = Role.JUDGE if isinstance(step, Judge) else Role.PRODUCER
    try:
        if isinstance(step, Judge):
            after = round_judge(caller, recorder, brief, history, step)
        else:
            after = candidate_write(caller, recorder, brief, history, step)
        return StepResult(step, after)
    except NoFreeSlot as full:
        delay = timedelta(seconds=full.delay_seconds * (1 + random.random()))  # noqa: S311  spreads them
        until = recorder.queue_for_slot(endpoint=full.endpoint, delay=delay)
        return StepResult(step, next_try_at=until, reason=str(full))
    except CallFailed as failed:
        return after_failure(caller, recorder, history, step, failed, options)
    except ProviderError as error:
        # Refused before a call was made: there is nothing to keep and nothing to try again.
        after = recorder.failure(None, role=role, message=error.message, after=history)
        return StepResult(step, after, error=error.kind.value)
    except (JudgeGaveUp, TemplateFailure) as gave_up:
        after = recorder.failure(None, role=role, message=str(gave_up), after=history)
        return StepResult(step, after)


def after_failure(
    caller: Caller,
    recorder: Recorder,
    history: History,
    step: Working,
    failed: CallFailed,
    options: StepOptions,
) -> StepResult:
    """A call without a reply is kept; the run waits and tries again, or the step is given up."""
    error, tries = failed.error, caller.run.step_failures + 1
    delay = delay_before(tries, error, random.random())  # noqa: S311  jitter, not a secret
    impatient = options.tries is not None and tries >= options.tries
    if delay is None or (impatient and error.kind is ErrorKind.UNREACHABLE):
        role = Role(failed.call.role)
        after = recorder.failure(failed.call, role=role, message=error.message, after=history)
        return StepResult(step, after, error=error.kind.value)
    until = timezone.now() + timedelta(seconds=delay)
    recorder.waiting(failed.call, until=until, reason=error.message, endpoint=failed.call.endpoint)
    return StepResult(step, next_try_at=until, reason=error.message, error=error.kind.value)
