"""The evaluator of a judge step: its commands run before the judge, and each output is saved at once."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from refinement.engine.repeating import middle_run, repeats_failure
from refinement.engine.steps import needs_repair
from refinement.engine.types import EvaluatorOutput, History, Round, Rubric
from refinement.execution.calls import Caller, ignore_text, stop_if_cancelled
from refinement.execution.cancelling import lease_checks
from refinement.execution.commands.reading import metrics_json, read_values
from refinement.execution.commands.running import (
    CannotEvaluate,
    command_run,
    evaluator_job,
    output_values,
    readable,
)
from refinement.execution.live_text import live_line
from refinement.execution.steps.recording import Recorder
from refinement.models import EvaluatorRepeat, EvaluatorResult, EventKind, ValidationResult
from refinement.selectors.rubrics.commands import command_refusal
from refinement.selectors.runs.history import evaluator_of

EVALUATOR, VALIDATION = "evaluator", "validation"
# Repeats that take longer are steps of their own, so that the loop can pass its thread on in between.
REPEATS_SECONDS = 60.0
STILL_INVALID = "The validation command failed{}: {}."


def round_evaluate(
    caller: Caller, recorder: Recorder, rubric: Rubric, history: History
) -> EvaluatorOutput | History | None:
    """The evaluator's output for the newest round; None if the rubric has no command.

    Returns the history instead if the step ends here, because the candidate has to be repaired or because
    slow repeats go on in the next step. Every output is saved as soon as its command ended, so a retry of the
    step runs only what is missing. Raises CannotEvaluate if a command is not allowed or cannot run,
    NoFreeSlot if the run has to wait, and Cancelled.
    """
    if not rubric.runs_a_command:
        return None
    entry = history.rounds[-1]
    result = EvaluatorResult.objects.filter(round__run=caller.run, round__number=entry.number).first()
    if result is None:
        if refusal := command_refusal(rubric):
            raise CannotEvaluate(refusal)
        found = RoundCommands(caller, recorder, rubric, entry).result()
        if isinstance(found, Round):
            return recorder.history(replace(history, rounds=(*history.rounds[:-1], found)))
        result = found
        recorder.command_output(result, entry.number)
    return evaluator_of(result)


@dataclass(frozen=True, slots=True)
class RoundCommands:
    """The commands of one round."""

    caller: Caller
    recorder: Recorder
    rubric: Rubric
    entry: Round

    def result(self) -> EvaluatorResult | Round:
        """The unsaved result, or the round as it is now if the step ends here."""
        if self.rubric.validates:
            validation = self.validation()
            if not validation.passed:
                invalid = replace(self.entry, invalid=True)
                return invalid if needs_repair(invalid) else failed_validation(self.rubric, validation)
        if self.rubric.evaluator.repeat == 1:
            return EvaluatorResult(**self.evaluate(1))
        return self.repeated()

    def validation(self) -> ValidationResult:
        """The validation command's result for the candidate, from the database or by running it."""
        number = 2 if self.entry.repaired else 1
        rows = ValidationResult.objects.filter(round__run=self.caller.run, round__number=self.entry.number)
        saved = rows.filter(number=number).first()
        if saved is not None:
            return saved
        evaluator = self.rubric.evaluator
        values = self.run(VALIDATION, number, evaluator.validation, evaluator.validation_timeout)
        row = ValidationResult(number=number, **values)
        self.recorder.command_output(row, self.entry.number)
        return row

    def repeated(self) -> EvaluatorResult | Round:
        """Runs the command as often as the rubric says, less the runs that are saved already."""
        rows = list(
            EvaluatorRepeat.objects.filter(round__run=self.caller.run, round__number=self.entry.number)
        )
        saved, began = len(rows), time.monotonic()
        while len(rows) < self.rubric.evaluator.repeat:
            if len(rows) > saved and time.monotonic() - began > REPEATS_SECONDS:
                return self.entry
            row = EvaluatorRepeat(number=len(rows) + 1, **self.evaluate(len(rows) + 1))
            self.recorder.command_output(row, self.entry.number)
            rows.append(row)
        return combined(self.rubric, rows)

    def evaluate(self, number: int) -> dict[str, Any]:
        """Runs the evaluator's command once; the fields of its row."""
        evaluator = self.rubric.evaluator
        values = self.run(EVALUATOR, number, evaluator.command, evaluator.timeout)
        with self.caller.heartbeat():
            return {**values, **read_values(self.rubric, values)}

    def run(self, kind: str, number: int, command: tuple[str, ...], seconds: int) -> dict[str, Any]:
        """Runs a command under the lease, with its progress on the run's page."""
        caller, said = self.caller, {"round": self.entry.number, "command": kind, "number": number}
        job = evaluator_job(self.rubric.evaluator, command, self.entry.candidate, seconds)
        begun = partial(self.recorder.event, EventKind.EVALUATING, **said)
        with live_line(caller.lease) as show, lease_checks.using(caller.lease) as is_held:
            control = caller.control(is_held, ignore_text)
            check = Check(partial(stop_if_cancelled, control), begun)
            finished = command_run(job, check, lambda line: show(readable(line)))
        self.recorder.event(EventKind.EVALUATED, **said, exit_code=finished.exit_code)
        return output_values(job, finished)


@dataclass(slots=True)
class Check:
    """Called a few times a second while a command runs; the first call says that it has begun.

    A command that finds no free core has not begun.
    """

    stop: Callable[[], None]
    begun: Callable[[], None]
    is_begun: bool = False

    def __call__(self) -> None:
        self.stop()
        if not self.is_begun:
            self.is_begun = True
            self.begun()


def failed_validation(rubric: Rubric, validation: ValidationResult) -> EvaluatorResult:
    """The result of a round whose candidate is invalid: a complete failure. The evaluator does not run."""
    again = " again after one repair" if validation.number > 1 else ""
    ended = validation.stopped or f"exit code {validation.exit_code}"
    return EvaluatorResult(
        **copied(validation),
        failure=STILL_INVALID.format(again, ended),
        metrics=metrics_json(rubric.evaluator, {}),
    )


def combined(rubric: Rubric, rows: list[EvaluatorRepeat]) -> EvaluatorResult:
    """The result of all runs: the output of the one in the middle, and every run's numbers.

    It is a complete failure if most runs are.
    """
    chosen = rows[middle_run(rubric, [evaluator_of(row) for row in rows])]
    metrics: dict[str, list[str]] = {}
    for row in rows:
        for name, numbers in row.metrics.items():
            metrics.setdefault(name, []).extend(numbers)
    return EvaluatorResult(
        **copied(chosen) | {"seconds": sum(row.seconds for row in rows)},
        failure=repeats_failure([row.failure for row in rows]),
        metrics=metrics,
        runs=len(rows),
        failed_runs=sum(bool(row.failure) for row in rows),
    )


def copied(row: ValidationResult | EvaluatorRepeat) -> dict[str, Any]:
    """The fields that every command's row has."""
    names = (
        *("command", "exit_code", "stopped", "stdout", "stderr", "stdout_missing", "stderr_missing"),
        *("seconds", "open_to"),
    )
    return {name: getattr(row, name) for name in names}
