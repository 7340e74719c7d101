"""An evaluator command's result for a round page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from refinement.charts import metric_words
from refinement.engine.evaluating import command_line
from refinement.engine.repeating import is_noise
from refinement.engine.types import MetricValue
from refinement.models import EvaluatorResult, Round, ValidationResult
from refinement.models.runs.evaluator_results import CommandOutput, EvaluatorOutput
from refinement.selectors.runs.evaluators.metrics import metrics_of

OPEN_WORDS = {
    "": "Ran in a sandbox, without network or access to this instance's files.",
    "network": "Ran in a sandbox, with network access but without access to this instance's files.",
    "files": "Ran without network. The instance's files were not hidden.",
    "all": "Ran without a sandbox, with the worker's network and file access.",
}


@dataclass(frozen=True, slots=True)
class OutputText:
    """An output stream. `missing` is the number of bytes dropped from its middle."""

    label: str
    text: str
    missing: int


@dataclass(frozen=True, slots=True)
class ValidationFacts:
    """The validation command on one candidate; `replaced` is that candidate if a repair replaced it."""

    command: str
    ended: str
    passed: bool
    outputs: tuple[OutputText, ...]
    replaced: str


@dataclass(frozen=True, slots=True)
class EvaluatorFacts:
    command: str
    ended: str
    well: bool
    failed: bool  # to run at all
    why: str  # on failure or timeout
    seconds: str
    outputs: tuple[OutputText, ...]
    metrics: tuple[tuple[str, str], ...]  # name, and value in words
    open_words: str
    is_open: bool
    runs: str = ""  # how often it ran, if more than once
    validations: tuple[ValidationFacts, ...] = ()

    @property
    def repaired(self) -> bool:
        return any(validation.replaced for validation in self.validations)


def evaluator_facts(
    entry: Round, names: Sequence[str] = (), before: Round | None = None
) -> EvaluatorFacts | None:
    """How the command ended and its output; None if it did not run. Two queries.

    `names` are the rubric's metrics in order. Their changes since the round `before` may be noise.
    """
    rounds = [row for row in (entry, before) if row is not None]
    rows = {row.round_id: row for row in EvaluatorResult.objects.filter(round__in=rounds)}
    row = rows.get(entry.pk)
    if row is None:
        return None
    earlier = rows.get(before.pk) if before else None
    facts = facts_of(row, names, earlier.metrics if earlier else None)
    return replace(facts, runs=runs_words(row), validations=validations_of(entry))


def facts_of(
    row: EvaluatorOutput, names: Sequence[str] = (), before: Mapping[str, list[str]] | None = None
) -> EvaluatorFacts:
    """One run of a command as shown; `before` are the metrics of an earlier round."""
    found = metrics_of(names or row.metrics, row.metrics)
    earlier = metrics_of(found, before or {})
    return EvaluatorFacts(
        command=command_line(row.command),
        ended=ended_words(row),
        well=row.exit_code == 0 and not row.failure,
        failed=bool(row.failure),
        why=row.failure or (f"The command {row.stopped}." if row.stopped else ""),
        seconds=f"{row.seconds:.1f} s",
        outputs=outputs_of(row),
        metrics=tuple((name, metric_line(found[name], earlier[name])) for name in found),
        open_words=OPEN_WORDS.get(row.open_to, row.open_to),
        is_open=bool(row.open_to),
    )


def metric_line(now: MetricValue | None, before: MetricValue | None) -> str:
    if now is None:
        return "not found"
    noise = ", within noise" if before is not None and is_noise(now, before) else ""
    return f"{metric_words(now)}{noise}"


def ended_words(row: CommandOutput) -> str:
    return "stopped" if row.stopped else f"exit code {row.exit_code}"


def outputs_of(row: CommandOutput) -> tuple[OutputText, ...]:
    texts = (
        OutputText("Standard output", row.stdout, row.stdout_missing),
        OutputText("Error output", row.stderr, row.stderr_missing),
    )
    return tuple(output for output in texts if output.text)


def runs_words(row: EvaluatorResult) -> str:
    """How often the command ran; empty for once."""
    if row.runs == 1:
        return ""
    failed = f", {row.failed_runs} failed completely" if row.failed_runs else ""
    return f"{row.runs} runs{failed}; the output is that of the run in the middle"


def validations_of(entry: Round) -> tuple[ValidationFacts, ...]:
    """The results of the validation command on the round's candidates, in order."""
    return tuple(
        ValidationFacts(
            command=command_line(row.command),
            ended=ended_words(row),
            passed=row.passed,
            outputs=outputs_of(row),
            replaced=row.replaced,
        )
        for row in ValidationResult.objects.filter(round=entry).order_by("number")
    )
