"""Exports many runs as CSV or JSON Lines."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from refinement.interchange.exports.json import as_json

Cell = str | int | Decimal | datetime | None
ENDS = ("trajectory", "tags", "metrics", "contract_violations", "board_rounds", "key_changes")
# Spreadsheets treat cells that start like this as formulas, some also with full-width characters.
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """The result of a judged round."""

    number: int
    composite: Decimal
    scores: Mapping[str, Decimal]
    issues: Sequence[str]
    metrics: Mapping[str, Decimal | None] = field(default_factory=dict)  # None: not found
    contract_violation: str = ""
    key_change: str = ""
    spread: Mapping[str, Decimal] = field(default_factory=dict)  # of a board
    judges: Mapping[str, Mapping[str, Decimal]] = field(default_factory=dict)  # final scores by judge


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in one line. `facts` are simple values in column order."""

    facts: Mapping[str, Cell]
    rounds: Sequence[RoundSummary]
    tags: Sequence[str]
    best: Decimal | None
    outcome: str
    task: str | None = None  # None if it was not read


class Line:
    """A file for csv.writer that returns each line instead of storing it."""

    def write(self, text: str) -> str:
        return text


def runs_csv(columns: Sequence[str], runs: Iterable[RunSummary]) -> Iterator[str]:
    """One line per run. Cells are escaped so that none is a formula."""
    writer = csv.writer(Line())
    yield writer.writerow([*columns, *ENDS])
    for run in runs:
        path = " ".join(decimal_text(entry.composite) for entry in run.rounds)
        cells = [cell(run.facts[name]) for name in columns]
        violations = sum(bool(entry.contract_violation) for entry in run.rounds)
        boards = sum(bool(entry.judges) for entry in run.rounds)
        changes = "; ".join(
            f"r{entry.number}: {entry.key_change}" for entry in run.rounds if entry.key_change
        )
        ends = (path, ", ".join(run.tags), metrics_text(run.rounds), violations, boards, changes)
        yield writer.writerow([*cells, *(cell(value) for value in ends)])


def metrics_text(rounds: Sequence[RoundSummary]) -> str:
    """Each metric's numbers by round, such as `accuracy: 0.8 not_found 0.9`; empty without metrics."""
    names = dict.fromkeys(name for entry in rounds for name in entry.metrics)
    return "; ".join(
        f"{name}: {' '.join(metric_text(entry.metrics.get(name)) for entry in rounds)}" for name in names
    )


def metric_text(value: Decimal | None) -> str:
    return "not_found" if value is None else decimal_text(value)


def cell(value: Cell) -> str:
    """The value as cell text. Text that looks like a formula is escaped."""
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, int):
        return str(value)
    return f"'{value}" if is_formula(value) else value


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might treat the text as a formula, also after leading whitespace."""
    return text[:1] in ("\t", "\r", "\n") or text.lstrip().startswith(FORMULA_STARTS)


def decimal_text(value: Decimal) -> str:
    return f"{value.normalize():f}"


def runs_jsonl(runs: Iterable[RunSummary]) -> Iterator[str]:
    """One object per line with facts, scores by round and criterion, and the result."""
    for run in runs:
        yield f"{as_json(_numbers(run_object(run)))}\n"


def run_object(run: RunSummary) -> dict[str, Any]:
    return {
        **run.facts,
        "task": run.task,
        "tags": list(run.tags),
        "wiggum_scores": {f"r{entry.number}": dict(entry.scores) for entry in run.rounds},
        "wiggum_composites": {f"r{entry.number}": entry.composite for entry in run.rounds},
        "wiggum_issues": {f"r{entry.number}": list(entry.issues) for entry in run.rounds},
        "wiggum_metrics": {f"r{entry.number}": dict(entry.metrics) for entry in run.rounds if entry.metrics},
        "wiggum_contract_violations": {
            f"r{entry.number}": entry.contract_violation for entry in run.rounds if entry.contract_violation
        },
        "wiggum_key_changes": {
            f"r{entry.number}": entry.key_change for entry in run.rounds if entry.key_change
        },
        "wiggum_judges": {
            f"r{entry.number}": {name: dict(scores) for name, scores in entry.judges.items()}
            for entry in run.rounds
            if entry.judges
        },
        "wiggum_spread": {f"r{entry.number}": dict(entry.spread) for entry in run.rounds if entry.spread},
        "wiggum_rounds": len(run.rounds),
        "final_score": run.best,
        "final": run.outcome,
    }


def _numbers(value: Any) -> Any:
    """The value with floats instead of decimals. This export is for analysis, not for import."""
    if isinstance(value, Decimal):
        whole = value == value.to_integral_value() and abs(value) < 10**15
        return int(value) if whole else float(value)
    if isinstance(value, dict):
        return {key: _numbers(entry) for key, entry in value.items()}
    return [_numbers(entry) for entry in value] if isinstance(value, list) else value
