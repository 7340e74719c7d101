"""The evaluator of a judge step: its command runs once per round, and its output is saved."""

import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path

from django.conf import settings

from refinement.engine.evaluating import with_failure
from refinement.engine.types import EvaluatorOutput, Handover, Rubric
from refinement.execution.calls import Caller, ignore_text, stop_if_cancelled
from refinement.execution.cancelling import lease_checks
from refinement.execution.recording import Recorder
from refinement.execution.slots import NoFreeSlot, slot_pass_on
from refinement.models import EvaluatorResult, Run
from refinement.providers.sandbox import (
    Busy,
    CannotStart,
    Job,
    JobResult,
    NoSandbox,
    SandboxConfig,
    run_job,
)
from refinement.providers.sandbox.bubblewrap import own_paths
from refinement.providers.sandbox.remote import run_remotely
from refinement.selectors.rubrics.commands import command_refusal
from refinement.selectors.runs.history import evaluator_of
from refinement.texts import storable

# Terminal colours and cursor moves; control characters that would affect the program that shows them.
TERMINAL_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
CONTROL_CHARS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EVALUATOR_SLOT = "the evaluator"  # what runs wait for while every core runs a command
WAIT_SECONDS = 2.0  # a free slot wakes a waiting run at once; this is the fallback


class CannotEvaluate(Exception):
    """The command is not allowed or cannot run. That is not the candidate's fault, so nothing is scored."""


def evaluator_output(
    caller: Caller, recorder: Recorder, rubric: Rubric, number: int, candidate: str
) -> EvaluatorOutput | None:
    """The output of the rubric's command for the round; None if the rubric has no command.

    The command runs once per round: a retry of the step uses the saved output. Raises CannotEvaluate if the
    command is not allowed or cannot run, NoFreeSlot if the run has to wait, and Cancelled.
    """
    if not rubric.runs_a_command:
        return None
    result = EvaluatorResult.objects.filter(round__run=caller.run, round__number=number).first()
    if result is None:
        if refusal := command_refusal(rubric):
            raise CannotEvaluate(refusal)
        result = result_row(rubric, evaluator_run(caller, rubric, candidate))
        recorder.evaluator_result(result, number)
    return evaluator_of(result)


def evaluator_run(caller: Caller, rubric: Rubric, candidate: str) -> JobResult:
    """Runs the command; raises NoFreeSlot, CannotEvaluate or Cancelled."""
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
            control = caller.control(is_held, ignore_text)
            finished = job_run(job, partial(stop_if_cancelled, control))
    except Busy:
        raise NoFreeSlot(EVALUATOR_SLOT, WAIT_SECONDS) from None
    except NoSandbox as problem:
        raise CannotEvaluate(f"the evaluator's command {program} was not run: {problem}") from problem
    except CannotStart as problem:
        raise CannotEvaluate(
            f"the evaluator's command {program} cannot be started ({problem}). Install it under /usr or /opt "
            "where commands run, or add its folder to WIGGUM_COMMANDS_READABLE there, then retry the run."
        ) from problem
    slot_pass_on(Run, EVALUATOR_SLOT)
    return finished


def job_run(job: Job, check: Callable[[], None]) -> JobResult:
    """Runs the job in the evaluator service if one is configured, otherwise on this machine."""
    if settings.EVALUATOR_SOCKET:
        return run_remotely(settings.EVALUATOR_SOCKET, job, check)
    return run_job(job, sandbox_config(job.command[0]), check)


def sandbox_config(program: str) -> SandboxConfig:
    """The settings for commands on this machine."""
    # A program with a path becomes readable only if WIGGUM_COMMANDS lists it; `*` adds none.
    named = (program,) if program.startswith("/") and program in settings.COMMANDS else ()
    return SandboxConfig(
        readable=(*settings.COMMANDS_READABLE, *named),
        hidden=(*own_paths(), *hidden_paths()),
        allow_unsafe=settings.UNSAFE_COMMANDS,
    )


def hidden_paths() -> tuple[str, ...]:
    """The paths of this instance's secret key and database."""
    database = settings.DATABASES["default"]
    if "sqlite" not in str(database["ENGINE"]):
        return (str(settings.DATA_DIR),)
    file = str(Path(str(database["NAME"])).absolute())
    return (str(settings.DATA_DIR), file, f"{file}-wal", f"{file}-shm")


def readable(text: str) -> str:
    """The output as plain text, the same for the judge, pages, files and terminals."""
    cleaned = TERMINAL_CODES.sub("", storable(text)).replace("\r\n", "\n").replace("\r", "\n")
    return CONTROL_CHARS.sub("\N{REPLACEMENT CHARACTER}", cleaned)


def result_row(rubric: Rubric, finished: JobResult) -> EvaluatorResult:
    """The unsaved row for a command's result. Its texts are the ones that are judged."""
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
