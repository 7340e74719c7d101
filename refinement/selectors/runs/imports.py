"""Where an imported run came from, and what it lacks for a rerun."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from refinement.engine.scoring import shown
from refinement.engine.types import Rubric
from refinement.models import Run, RunImport, RunSource

MOST_ROWS = 200
MOST_NOTES = 100


@dataclass(frozen=True, slots=True)
class StatedRow:
    """A row of the file's table, and its scores as computed here."""

    label: str
    number: int | None  # the round it refers to
    cells: tuple[str, ...]
    others: tuple[str, ...]
    composite: str
    computed: str
    change: str
    counted: bool


@dataclass(frozen=True, slots=True)
class ImportFacts:
    """Import details for the run page; texts come from the file."""

    record: RunImport
    kind: str
    lacks: str  # why it cannot be rerun
    contradictions: tuple[str, ...]
    criteria: tuple[str, ...]
    rows: tuple[StatedRow, ...]
    best: tuple[Mapping[str, Any], ...]
    facts: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]  # the table's columns that are no criterion
    details: tuple[Mapping[str, Any], ...]  # texts about a round, such as an evaluator's output
    remarks: str
    notes: tuple[Mapping[str, Any], ...]
    more_notes: int

    @property
    def has_file(self) -> bool:
        """Whether there is file content to show."""
        return bool(self.rows or self.best or self.facts or self.details or self.remarks)


def import_of(run: Run, rubric: Rubric, composites: Mapping[int, Decimal | None]) -> ImportFacts | None:
    """The import record of an imported run; no query for other runs."""
    if run.source is None or run.is_example:
        return None
    record = RunImport.objects.get(run=run)
    stated = record.stated
    notes = stated.get("notes", [])
    return ImportFacts(
        record=record,
        kind=RunSource(run.source).label,
        lacks=lacks_words(run),
        contradictions=tuple(str(words) for words in stated.get("contradictions", ())),
        criteria=tuple(str(name) for name in stated.get("criteria", ())),
        rows=tuple(_row(row, rubric, composites) for row in stated.get("rows", ())[:MOST_ROWS]),
        best=tuple(stated.get("best", ())),
        facts=tuple((str(name), str(value)) for name, value in stated.get("facts", ())),
        columns=tuple(str(name) for name in stated.get("columns", ())),
        details=tuple(stated.get("details", ())[:MOST_ROWS]),
        remarks=str(stated.get("remarks", "")),
        notes=tuple(notes[:MOST_NOTES]),
        more_notes=max(0, len(notes) - MOST_NOTES) + stated.get("more_notes", 0),
    )


def _row(row: Mapping[str, Any], rubric: Rubric, composites: Mapping[int, Decimal | None]) -> StatedRow:
    number = row.get("round")
    composite = composites.get(number) if isinstance(number, int) and row.get("counted") else None
    return StatedRow(
        label=str(row.get("label", "")),
        number=number if number in composites else None,
        cells=tuple(str(cell) for cell in row.get("scores", ())),
        others=tuple(str(cell) for cell in row.get("others", ())),
        composite=str(row.get("composite", "")),
        computed="" if composite is None else shown(composite, rubric.policy),
        change=str(row.get("change", "")),
        counted=bool(row.get("counted")),
    )


def import_sentence(run: Run) -> str:
    """Where the run came from, for a report; empty for runs launched here."""
    if run.source is None or run.is_example:
        return ""
    record = RunImport.objects.get(run=run)
    contradictions = record.stated.get("contradictions", ())
    kind, day = RunSource(run.source).label, f"{record.at:%Y-%m-%d}"
    return " ".join(
        [f"Imported from {record.name} ({kind}) on {day} by {record.by_name}.", *map(str, contradictions)]
    )


def lacking(run: Run) -> list[str]:
    """What the run lacks for a rerun; only imported runs can lack something."""
    models = [
        f"the {word}'s model"
        for role, word in (("producer", "writer"), ("judge", "judge"))
        if not (getattr(run, f"{role}_endpoint") and getattr(run, f"{role}_model"))
    ]
    return [*(["a task"] if not run.task.strip() else []), *models]


def lacks_words(run: Run) -> str:
    missing = lacking(run)
    if not missing:
        return ""
    return f"The file does not include {listed(missing)}, so the run cannot be rerun unchanged."


def listed(words: Sequence[str]) -> str:
    """Joins as `a`, `a and b` or `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
