"""Reads `runs.jsonl` files with one run per line."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NoReturn

from refinement.interchange.imports.foreign_runs import document_of
from refinement.interchange.imports.found import (
    FoundRun,
    Note,
    Notes,
    SourceFile,
    grouped,
    key_of,
    listed,
    quoted,
    too_deep,
)
from refinement.interchange.runs_jsonl.rounds import ROUND_FIELDS, rounds_of
from refinement.interchange.runs_jsonl.runs import foreign_run
from refinement.interchange.runs_jsonl.weights import WEIGHT_FIELDS

MOST_LINE_BYTES = 8_000_000
# All supported fields, including those of Wiggum's own export.
SCORE_FIELDS = ROUND_FIELDS
# A line without any wiggum_ field is a run if it has one of the first and one of the second.
RUN_NAMES, RUN_ENDS = ("task", "run_id"), ("final", "outcome", "producer_model", "evaluator_model")
KNOWN = frozenset(
    {
        *SCORE_FIELDS, *WEIGHT_FIELDS, "wiggum_rounds", "wiggum_r1", "wiggum_metrics",
        "wiggum_contract_violations", "wiggum_key_changes", "wiggum_judges", "wiggum_spread",
        "final_score", "final", "task", "task_type", "title",
        "run", "run_id", "id", "timestamp", "created_at", "started_at", "finished_at", "producer",
        "producer_model", "model", "judge", "evaluator", "evaluator_model", "judge_model", "input_tokens",
        "output_tokens", "prompt_tokens", "completion_tokens", "run_duration_s", "model_seconds",
        "final_content", "output", "content", "tags", "created_by", "stop_reason", "why", "outcome",
        "r1", "best", "best_round", "passed_in_round", "last", "improvement", "rounds", "status", "rubric",
        "rubric_version", "profile", "calls", "batch", "signal_rounds", "penalty_rounds", "cut_rounds",
        "imported", "decision", "chosen_round", "decided_by", "clerk", "within_noise",
        "smallest_difference", "same_text_moved",
    }
)  # fmt: skip


class _Unreadable(ValueError):
    """A line is not a run. The message says why."""


def jsonl_runs(
    file: SourceFile, notes: list[Note], weights: Mapping[str, Decimal] | None = None
) -> Iterator[FoundRun]:
    """Each line as a run. Unknown fields and unscored runs are reported once per file."""
    unknown: dict[str, list[int]] = defaultdict(list)
    unscored: list[int] = []
    for number, line in _lines(file.data):
        if not line.strip():
            continue
        name = f"{file.name}, line {number}"
        line_notes = Notes(file.name)
        found = FoundRun("jsonl", name, "")
        try:
            record = _record(line)
            for field_name in record.keys() - KNOWN:
                unknown[field_name].append(number)
            found.key = key_of("jsonl", record)
            if not _fill(found, record, number, line_notes, weights):
                unscored.append(number)
        except _Unreadable as error:
            line_notes.add(number, line[:400].decode("utf-8", "replace"), str(error))
        found.notes = grouped(line_notes.found)
        yield found
    if unscored:
        notes.append(Note(file.name, unscored[0], "", _unscored_words(unscored)))
    notes += [_unknown_note(file.name, name, lines) for name, lines in sorted(unknown.items())]


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, without copying the whole file."""
    start, number = 3 if data.startswith(b"\xef\xbb\xbf") else 0, 1
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield number, data[start:end]
        start, number = end + 1, number + 1


def _record(line: bytes) -> dict[str, Any]:
    if len(line) > MOST_LINE_BYTES:
        raise _Unreadable(f"The line is longer than {MOST_LINE_BYTES:,} bytes.")
    try:
        record = json.loads(line.decode("utf-8"), parse_float=Decimal, parse_constant=_refused)
    except UnicodeDecodeError:
        raise _Unreadable("The line is not UTF-8 text.") from None
    except RecursionError:
        raise _Unreadable("The line is nested too deeply.") from None
    except (ValueError, ArithmeticError) as error:
        raise _Unreadable(f"This is not valid JSON: {error}.") from None
    if too_deep(record):
        raise _Unreadable("The line is nested too deeply.")
    if not isinstance(record, dict):
        raise _Unreadable("A line must be a JSON object.")
    named = any(record.get(name) for name in RUN_NAMES) and any(name in record for name in RUN_ENDS)
    if not named and not any(name.startswith("wiggum_") for name in record):
        raise _Unreadable("Not a run of a Wiggum loop: no wiggum_ field, and no task with its outcome.")
    return record


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _fill(
    found: FoundRun,
    record: Mapping[str, Any],
    line: int,
    notes: Notes,
    weights: Mapping[str, Decimal] | None,
) -> bool:
    """Adds the document. Returns whether the line has a round with scores."""
    rounds = rounds_of(record, line, notes)
    found.title = str(record.get("title") or record.get("task") or record.get("run_id") or found.name)[:160]
    if not rounds and any(record.get(name) for name in SCORE_FIELDS):
        raise _Unreadable("No round has scores that can be read.")
    foreign = foreign_run(record, rounds, line, notes, weights)
    found.title = foreign.title
    found.document = document_of(foreign)
    found.stated = foreign.stated
    if "weights" in foreign.stated:
        # With other weights the same line is another run.
        found.key = key_of("jsonl", [record, foreign.stated["weights"]])
    return bool(rounds)


def _unscored_words(lines: list[int]) -> str:
    one = len(lines) == 1
    return f"No scored round on line{'' if one else 's'} {listed(lines)}; imported as unscored."


def _unknown_note(file: str, name: str, lines: list[int]) -> Note:
    places = f"line {lines[0]}" if len(lines) == 1 else f"lines {listed(lines)}"
    return Note(file, lines[0], quoted(name), f"Unknown field on {places}; not imported.")
