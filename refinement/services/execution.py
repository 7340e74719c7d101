"""One step of a run: decided by the engine, carried out, written down."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from django.db import transaction
from django.utils import timezone

from refinement.engine.steps import next_step
from refinement.engine.types import Draft, Finish, History, Judge, Revise, Role, Step
from refinement.judging.context import Brief
from refinement.judging.templating import TemplateFailure
from refinement.models import EventKind, Run
from refinement.providers.base import Cancelled, ErrorKind, ProviderError
from refinement.providers.retrying import delay_before
from refinement.selectors.steering import instructions_waiting
from refinement.services.calling import Caller, CallFailed, Local, ignore_text
from refinement.services.judgement import JudgeGaveUp, round_judge
from refinement.services.leases import Lease, LeaseLost, lease_write
from refinement.services.places import NoFreePlace
from refinement.services.production import candidate_write
from refinement.services.recollection import recall
from refinement.services.recording import Recorder

DEADLINE_SECONDS = 600.0
Working: TypeAlias = Draft | Judge | Revise
STEP_NAMES = {Draft: "draft", Judge: "judge", Revise: "revise"}


@dataclass(frozen=True, slots=True)
class StepResult:
    """What became of a step. Without a finish and without a next try, the run goes on at once."""

    step: Step | None = None
    finish: Finish | None = None
    next_try_at: datetime | None = None
    reason: str = ""
    error: str = ""  # the kind of the provider's error, where there was one
    lost: bool = False
    tokens: int = 0
    model_seconds: float = 0.0


def ignore_step(step: Step) -> None:
    """For those who do not watch."""


@dataclass(slots=True)
class StepOptions:
    """How a step is carried out: by a worker, or in somebody's foreground."""

    actor: str = "command line"
    release: bool = True  # let go of the run after the step and send for the next one
    tries: int | None = None  # give up on an unreachable server after so many; None waits for it
    deadline_seconds: float = DEADLINE_SECONDS
    on_step: Callable[[Step], None] = ignore_step
    on_text: Callable[[str], None] = ignore_text
    local: Local = field(default_factory=Local)


def run_step(lease: Lease, options: StepOptions, run: Run | None = None, *, told: bool = False) -> StepResult:
    """Carries out the run's next step under a lease that was taken; `told`, its event is there already."""
    run = run or Run.objects.get(pk=lease.run_id)
    brief, history = recall(lease, run)
    step = next_step(brief.rubric, history)
    options.on_step(step)
    recorder = Recorder(lease, run, options.actor, options.release, brief)
    try:
        if isinstance(step, Finish):
            recorder.finish(step)
            return StepResult(step, finish=step)
        step = step if told else begin(recorder, brief, history, step)
        caller = Caller(run, lease, options.deadline_seconds, options.on_text, options.local)
        result = carry_out(caller, recorder, brief, history, step, options)
        return replace(result, tokens=caller.tokens, model_seconds=caller.seconds)
    except (LeaseLost, Cancelled):
        return StepResult(step, lost=True)


def begin(recorder: Recorder, brief: Brief, history: History, step: Working) -> Working:
    """Says that the step has begun; a revision takes along what people have asked for until now."""
    run_id = recorder.lease.run_id
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
            finish = round_judge(caller, recorder, brief, history, step)
        else:
            finish = candidate_write(caller, recorder, brief, history, step)
        return StepResult(step, finish=finish)
    except NoFreePlace as full:
        delay = timedelta(seconds=full.delay_seconds * (1 + random.random()))  # noqa: S311  spreads them
        until = recorder.queue_for_place(endpoint=full.endpoint, delay=delay)
        return StepResult(step, next_try_at=until, reason=str(full))
    except CallFailed as failed:
        return after_failure(caller, recorder, step, role, failed, options)
    except ProviderError as error:
        # Refused before a call was made: there is nothing to keep and nothing to try again.
        recorder.failure(None, role=role, message=error.message)
        return StepResult(step, error=error.kind.value)
    except (JudgeGaveUp, TemplateFailure) as gave_up:
        recorder.failure(None, role=role, message=str(gave_up))
        return StepResult(step)


def after_failure(
    caller: Caller,
    recorder: Recorder,
    step: Working,
    role: Role,
    failed: CallFailed,
    options: StepOptions,
) -> StepResult:
    """A call without a reply is kept; the run waits and tries again, or the step is given up."""
    error, tries = failed.error, caller.run.step_failures + 1
    delay = delay_before(tries, error, random.random())  # noqa: S311  jitter, not a secret
    impatient = options.tries is not None and tries >= options.tries
    if delay is None or (impatient and error.kind is ErrorKind.UNREACHABLE):
        recorder.failure(failed.call, role=role, message=error.message)
        return StepResult(step, error=error.kind.value)
    until = timezone.now() + timedelta(seconds=delay)
    recorder.waiting(failed.call, until=until, reason=error.message, endpoint=failed.call.endpoint)
    return StepResult(step, next_try_at=until, reason=error.message, error=error.kind.value)
