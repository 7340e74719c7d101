"""Runs an evaluator's command: in the evaluator service if one is configured, otherwise on this machine."""

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings

from refinement.engine.types import Evaluator, Handover
from refinement.execution.slots import NoFreeSlot, slot_pass_on
from refinement.models import EvaluatorTrial, Run
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
from refinement.providers.sandbox.last_line import ignore_line
from refinement.providers.sandbox.remote import run_remotely
from refinement.selectors.rubrics.commands import may_use_network
from refinement.texts import storable

# Terminal colours and cursor moves; control characters that would affect the program that shows them.
TERMINAL_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
CONTROL_CHARS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EVALUATOR_SLOT = "the evaluator"  # what runs wait for while every core runs a command
WAIT_SECONDS = 2.0  # a free slot wakes a waiting run at once; this is the fallback


class CannotEvaluate(Exception):
    """The command is not allowed or cannot run. That is not the candidate's fault, so nothing is scored."""


def evaluator_job(evaluator: Evaluator, command: tuple[str, ...], text: str, seconds: int) -> Job:
    """The job that runs one of the evaluator's commands on the text."""
    return Job(
        command=command,
        text=text,
        seconds=seconds,
        file_name=evaluator.file_name if evaluator.handover is Handover.FILE else "",
        network=may_use_network(command[0]),
    )


def command_run(
    job: Job, check: Callable[[], None], on_line: Callable[[str], None] = ignore_line
) -> JobResult:
    """Runs the job to its end or its limit.

    `check` is called a few times a second, and what it raises stops the command. `on_line` gets the last line
    of output, at most once a second. Raises NoFreeSlot if every core runs a command, and CannotEvaluate.
    """
    program = job.command[0][:200]
    try:
        finished = job_run(job, check, on_line)
    except Busy:
        raise NoFreeSlot(EVALUATOR_SLOT, WAIT_SECONDS) from None
    except NoSandbox as problem:
        raise CannotEvaluate(f"the evaluator's command {program} was not run: {problem}") from problem
    except CannotStart as problem:
        raise CannotEvaluate(
            f"the evaluator's command {program} cannot be started ({problem}). Install it under /usr or /opt "
            "where commands run, or add its folder to WIGGUM_COMMANDS_READABLE there, then retry the run."
        ) from problem
    # Trials first: somebody watches them.
    any(slot_pass_on(model, EVALUATOR_SLOT) for model in (EvaluatorTrial, Run))
    return finished


def job_run(job: Job, check: Callable[[], None], on_line: Callable[[str], None]) -> JobResult:
    """Runs the job in the evaluator service if one is configured, otherwise on this machine."""
    if settings.EVALUATOR_SOCKET:
        return run_remotely(settings.EVALUATOR_SOCKET, job, check, on_line)
    return run_job(job, sandbox_config(job.command[0]), check, on_line)


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


def output_values(job: Job, finished: JobResult) -> dict[str, Any]:
    """The fields of a `CommandOutput` row. Its texts are the ones that are judged."""
    return {
        "command": list(job.command),
        "exit_code": finished.exit_code,
        "stopped": finished.stopped,
        "stdout": readable(finished.out),
        "stderr": readable(finished.err),
        "stdout_missing": finished.out_missing,
        "stderr_missing": finished.err_missing,
        "seconds": Decimal(finished.seconds).quantize(Decimal("0.001")),
        "open_to": finished.open_to,
    }
