"""The evaluator's part of a judge's step: its command is run once for a round, and its output kept."""

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from django.conf import settings

from refinement.engine.evaluating import judged_output
from refinement.engine.types import EvaluatorOutput, Handover, Rubric
from refinement.models import EvaluatorResult
from refinement.providers.base import Cancelled
from refinement.providers.confined import CannotStart, Finished, Job, run_confined
from refinement.selectors.commands import command_refusal
from refinement.selectors.history import evaluator_of
from refinement.services.calling import Caller, ignore_text
from refinement.services.lookout import lookout
from refinement.services.recording import Recorder
from refinement.services.texts import storable

# Colours and moves of a terminal; and signs that would act on whoever shows them.
TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SYSTEM_FOLDERS = ("/run",)  # where servers of this machine listen without a network


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
    evaluator = rubric.evaluator
    job = Job(
        command=evaluator.command,
        given=candidate,
        seconds=evaluator.timeout,
        file_name=evaluator.file_name if evaluator.handover is Handover.FILE else "",
        hidden=hidden_paths(),
    )
    try:
        with lookout.watching(caller.lease) as holds:
            return run_confined(job, stopping(caller.control(holds, ignore_text).is_cancelled))
    except CannotStart as problem:
        raise CannotEvaluate(
            f"the evaluator's command {evaluator.command[0][:200]} cannot be started ({problem}). Check that "
            "it is installed where the worker runs and that the worker may start it, then retry the run."
        ) from problem


def stopping(is_cancelled: Callable[[], bool]) -> Callable[[], None]:
    def look() -> None:
        if is_cancelled():
            raise Cancelled("The evaluator's command was stopped.")

    return look


def hidden_paths() -> tuple[str, ...]:
    """What the instance keeps: its key, its database, and the sockets of the servers beside it."""
    paths = [str(settings.DATA_DIR), *SYSTEM_FOLDERS]
    database = settings.DATABASES["default"]
    if "sqlite" in str(database["ENGINE"]):
        file = str(Path(str(database["NAME"])).absolute())
        paths += [file, f"{file}-wal", f"{file}-shm"]
    return tuple(paths)


def readable(text: str) -> str:
    """The output as plain lines: the judge, pages, files and terminals are all given the same."""
    lines = TERMINAL.sub("", storable(text)).replace("\r\n", "\n").replace("\r", "\n")
    return ACTING.sub("\N{REPLACEMENT CHARACTER}", lines)


def result_row(rubric: Rubric, finished: Finished) -> EvaluatorResult:
    """The row to be kept; the same texts that a database holds are the ones that are judged."""
    output = judged_output(
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
