"""The evaluator's part of a judge's step: its command is run once for a round, and its output kept."""

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from django.conf import settings

from refinement.engine.evaluating import with_failure
from refinement.engine.types import EvaluatorOutput, Handover, Rubric
from refinement.execution.calls import Caller, ignore_text
from refinement.execution.cancelling import lease_checks
from refinement.execution.recording import Recorder
from refinement.execution.slots import NoFreeSlot, slot_pass_on
from refinement.models import EvaluatorResult, Run
from refinement.providers.base import Cancelled
from refinement.providers.sandbox import (
    Busy,
    CannotStart,
    Finished,
    Job,
    NoSandbox,
    Surroundings,
    run_job,
)
from refinement.providers.sandbox.bubblewrap import own_paths
from refinement.providers.sandbox.remote import run_remotely
from refinement.selectors.rubrics.commands import command_refusal
from refinement.selectors.runs.history import evaluator_of
from refinement.texts import storable

# Colours and moves of a terminal; and signs that would act on whoever shows them.
TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PLACE = "the evaluator"  # what runs wait for while every core runs a command
WAIT_SECONDS = 2.0  # a place that gets free is offered at once; this is for one that is missed


class CannotEvaluate(Exception):
    """The command may not or cannot be run: that says nothing of the candidate, so nothing is scored."""


def evaluator_output(
    caller: Caller, recorder: Recorder, rubric: Rubric, number: int, candidate: str
) -> EvaluatorOutput | None:
    """What the command says of the round; a judge who is asked again is given what it said before."""
    if not rubric.runs_a_command:
        return None
    kept = EvaluatorResult.objects.filter(round__run=caller.run, round__number=number).first()
    if kept is None:
        if refusal := command_refusal(rubric):
            raise CannotEvaluate(refusal)
        kept = result_row(rubric, run_it(caller, rubric, candidate))
        recorder.evaluator_result(kept, number)
    return evaluator_of(kept)


def run_it(caller: Caller, rubric: Rubric, candidate: str) -> Finished:
    """Runs the command; raises NoFreeSlot where the run must wait, without holding a thread."""
    evaluator = rubric.evaluator
    job = Job(
        command=evaluator.command,
        text=candidate,
        seconds=evaluator.timeout,
        file_name=evaluator.file_name if evaluator.handover is Handover.FILE else "",
    )
    program = evaluator.command[0][:200]
    try:
        with lease_checks.using(caller.lease) as is_held:
            finished = job_run(job, stopping(caller.control(is_held, ignore_text).is_cancelled))
    except Busy:
        raise NoFreeSlot(PLACE, WAIT_SECONDS) from None
    except NoSandbox as problem:
        raise CannotEvaluate(f"the evaluator's command {program} was not run: {problem}") from problem
    except CannotStart as problem:
        raise CannotEvaluate(
            f"the evaluator's command {program} cannot be started ({problem}). Install it under /usr or /opt "
            "where commands run, or add its folder to WIGGUM_COMMANDS_READABLE there, then retry the run."
        ) from problem
    slot_pass_on(Run, PLACE)
    return finished


def job_run(job: Job, look: Callable[[], None]) -> Finished:
    """In the evaluator service where there is one, otherwise on this machine."""
    if settings.EVALUATOR_SOCKET:
        return run_remotely(settings.EVALUATOR_SOCKET, job, look)
    return run_job(job, surroundings(job.command[0]), look)


def surroundings(program: str) -> Surroundings:
    """What the settings say about commands on this machine."""
    # A program with a path is shown if the administrator named it; `*` shows nothing more.
    named = (program,) if program.startswith("/") and program in settings.COMMANDS else ()
    return Surroundings(
        readable=(*settings.COMMANDS_READABLE, *named),
        hidden=(*own_paths(), *hidden_paths()),
        allow_unsafe=settings.UNSAFE_COMMANDS,
    )


def stopping(is_cancelled: Callable[[], bool]) -> Callable[[], None]:
    def look() -> None:
        if is_cancelled():
            raise Cancelled("The evaluator's command was stopped.")

    return look


def hidden_paths() -> tuple[str, ...]:
    """Where this instance keeps its key and its database."""
    database = settings.DATABASES["default"]
    if "sqlite" not in str(database["ENGINE"]):
        return (str(settings.DATA_DIR),)
    file = str(Path(str(database["NAME"])).absolute())
    return (str(settings.DATA_DIR), file, f"{file}-wal", f"{file}-shm")


def readable(text: str) -> str:
    """The output as plain lines: the judge, pages, files and terminals are all given the same."""
    lines = TERMINAL.sub("", storable(text)).replace("\r\n", "\n").replace("\r", "\n")
    return ACTING.sub("\N{REPLACEMENT CHARACTER}", lines)


def result_row(rubric: Rubric, finished: Finished) -> EvaluatorResult:
    """The row to be kept; the same texts that a database holds are the ones that are judged."""
    output = with_failure(
        EvaluatorOutput(readable(finished.out), readable(finished.err), finished.exit_code, finished.stopped)
    )
    return EvaluatorResult(
        command=list(rubric.evaluator.command),
        exit_code=output.exit_code,
        stopped=output.stopped,
        failure=output.failure,
        stdout=output.stdout,
        stderr=output.stderr,
        stdout_missing=finished.out_missing,
        stderr_missing=finished.err_missing,
        seconds=Decimal(finished.seconds).quantize(Decimal("0.001")),
        open_to=finished.open_to,
    )
