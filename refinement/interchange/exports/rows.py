"""Many runs as files: a table for spreadsheets, and one JSON object a line for scripts."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from refinement.interchange.exports.json import as_json

Cell = str | int | Decimal | datetime | None
# A cell that begins like this is a formula for a spreadsheet; the wide forms count as well for some.
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """What a judged round came to."""

    number: int
    composite: Decimal
    scores: Mapping[str, Decimal]
    issues: Sequence[str]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in one line; `facts` hold what needs no shape of its own, in the order of the columns."""

    facts: Mapping[str, Cell]
    rounds: Sequence[RoundSummary]
    tags: Sequence[str]
    best: Decimal | None
    outcome: str


class _Line:
    """Takes what a csv writer writes, and gives it away."""

    def write(self, text: str) -> str:
        return text


def runs_csv(columns: Sequence[str], runs: Iterable[RunSummary]) -> Iterator[str]:
    """A table with one line a run; no cell of it can be a formula."""
    writer = csv.writer(_Line())
    yield writer.writerow([*columns, "trajectory", "tags"])
    for run in runs:
        path = " ".join(decimal_words(entry.composite) for entry in run.rounds)
        cells = [cell(run.facts[name]) for name in columns]
        yield writer.writerow([*cells, cell(path), cell(", ".join(run.tags))])


def cell(value: Cell) -> str:
    """The value as a spreadsheet may have it: numbers stay numbers, a text that is a formula does not."""
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return decimal_words(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, int):
        return str(value)
    return f"'{value}" if is_formula(value) else value


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might take it for a formula: also behind spaces, a tab or a break."""
    return text[:1] in ("\t", "\r", "\n") or text.lstrip().startswith(FORMULA_STARTS)


def decimal_words(value: Decimal) -> str:
    return f"{value.normalize():f}"


def runs_jsonl(runs: Iterable[RunSummary]) -> Iterator[str]:
    """One object a line: the facts, the scores by round and criterion, and what the run came to."""
    for run in runs:
        yield f"{as_json(_numbers(run_object(run)))}\n"


def run_object(run: RunSummary) -> dict[str, Any]:
    return {
        **run.facts,
        "tags": list(run.tags),
        "wiggum_scores": {f"r{entry.number}": dict(entry.scores) for entry in run.rounds},
        "wiggum_composites": {f"r{entry.number}": entry.composite for entry in run.rounds},
        "wiggum_issues": {f"r{entry.number}": list(entry.issues) for entry in run.rounds},
        "wiggum_rounds": len(run.rounds),
        "final_score": run.best,
        "final": run.outcome,
    }


def _numbers(value: Any) -> Any:
    """The same with plain numbers for decimals: these lines are for analysis, not for rebuilding a run."""
    if isinstance(value, Decimal):
        whole = value == value.to_integral_value() and abs(value) < 10**15
        return int(value) if whole else float(value)
    if isinstance(value, dict):
        return {key: _numbers(entry) for key, entry in value.items()}
    return [_numbers(entry) for entry in value] if isinstance(value, list) else value
