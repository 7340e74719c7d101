"""An evaluator command's result for a round page."""

from dataclasses import dataclass

from refinement.engine.evaluating import command_line
from refinement.models import EvaluatorResult, Round

OPEN_WORDS = {
    "": "Ran in a sandbox, without network or access to this instance's files.",
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
class EvaluatorFacts:
    command: str
    ended: str
    well: bool
    failed: bool  # to run at all
    why: str  # on failure or timeout
    seconds: str
    outputs: tuple[OutputText, ...]
    open_words: str
    is_open: bool


def evaluator_facts(entry: Round) -> EvaluatorFacts | None:
    """How the command ended and its output; None if it did not run. One query."""
    row = EvaluatorResult.objects.filter(round=entry).first()
    if row is None:
        return None
    texts = (
        OutputText("Standard output", row.stdout, row.stdout_missing),
        OutputText("Error output", row.stderr, row.stderr_missing),
    )
    return EvaluatorFacts(
        command=command_line(row.command),
        ended="stopped" if row.stopped else f"exit code {row.exit_code}",
        well=row.exit_code == 0 and not row.failure,
        failed=bool(row.failure),
        why=row.failure or (f"The command {row.stopped}." if row.stopped else ""),
        seconds=f"{row.seconds:.1f} s",
        outputs=tuple(output for output in texts if output.text),
        open_words=OPEN_WORDS.get(row.open_to, row.open_to),
        is_open=bool(row.open_to),
    )
