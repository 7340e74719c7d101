"""What an evaluator's command said of a round, as its page shows it."""

from dataclasses import dataclass

from refinement.engine.evaluating import command_line
from refinement.models import EvaluatorResult, Round

OPEN_WORDS = {
    "": "Ran in a sandbox, without network or access to this instance's files.",
    "files": "Ran without network. The instance's files were not hidden from it.",
    "all": "Ran without a sandbox: network and files of the worker's account were open to it.",
}


@dataclass(frozen=True, slots=True)
class OutputText:
    """One of the two streams: `missing` are the bytes of its middle that were not kept."""

    label: str
    text: str
    missing: int


@dataclass(frozen=True, slots=True)
class EvaluatorFacts:
    command: str
    ended: str
    well: bool
    failed: bool  # completely
    why: str  # of a failure or a stop
    seconds: str
    outputs: tuple[OutputText, ...]
    open_words: str
    is_open: bool


def evaluator_facts(entry: Round) -> EvaluatorFacts | None:
    """How the command ended and what it wrote; None where it was not run. One query."""
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
