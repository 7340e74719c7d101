"""Reads `runs.jsonl` files with one run per line."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NoReturn

from refinement.interchange.imports.foreign_runs import document_of
from refinement.interchange.imports.found import FoundRun, Note, Notes, SourceFile, key_of, quoted, too_deep
from refinement.interchange.runs_jsonl.rounds import rounds_of
from refinement.interchange.runs_jsonl.runs import foreign_run

MOST_LINE_BYTES = 8_000_000
MOST_NAMED = 12  # lines listed for an unknown field
# All supported fields, including those of Wiggum's own export.
SCORE_FIELDS = ("wiggum_scores", "wiggum_dims", "wiggum_eval_log", "wiggum_issues", "wiggum_composites")
KNOWN = frozenset(
    {
        *SCORE_FIELDS, "wiggum_rounds", "wiggum_r1", "wiggum_metrics",
        "wiggum_contract_violations", "wiggum_key_changes", "wiggum_judges", "wiggum_spread",
        "final_score", "final", "task", "task_type", "title",
        "run", "run_id", "id", "timestamp", "created_at", "started_at", "finished_at", "producer",
        "producer_model", "model", "judge", "evaluator", "evaluator_model", "judge_model", "input_tokens",
        "output_tokens", "prompt_tokens", "completion_tokens", "run_duration_s", "model_seconds",
        "final_content", "output", "content", "tags", "created_by", "stop_reason", "why", "outcome",
        "r1", "best", "best_round", "passed_in_round", "last", "improvement", "rounds", "status", "rubric",
        "rubric_version", "profile", "calls", "batch", "signal_rounds", "penalty_rounds", "cut_rounds",
        "imported", "decision", "chosen_round", "decided_by", "clerk",
    }
)  # fmt: skip


class _Unreadable(ValueError):
    """A line is not a run. The message says why."""


def jsonl_runs(file: SourceFile, notes: list[Note]) -> Iterator[FoundRun]:
    """Each line as a run. Unknown fields are reported once per file."""
    unknown: dict[str, list[int]] = defaultdict(list)
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
            _fill(found, record, number, line_notes)
        except _Unreadable as error:
            line_notes.add(number, line[:400].decode("utf-8", "replace"), str(error))
        found.notes = line_notes.found
        yield found
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
    if "wiggum_scores" not in record and "wiggum_eval_log" not in record:
        raise _Unreadable("Not a run of a Wiggum loop: both wiggum_scores and wiggum_eval_log are missing.")
    return record


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _fill(found: FoundRun, record: Mapping[str, Any], line: int, notes: Notes) -> None:
    rounds = rounds_of(record, line, notes)
    found.title = str(record.get("title") or record.get("task") or record.get("run_id") or found.name)[:160]
    if not rounds:
        raise _Unreadable("No round has scores.")
    foreign = foreign_run(record, rounds, line, notes)
    found.title = foreign.title
    found.document = document_of(foreign)
    found.stated = foreign.stated


def _unknown_note(file: str, name: str, lines: list[int]) -> Note:
    named = ", ".join(str(number) for number in lines[:MOST_NAMED])
    more = f" and {len(lines) - MOST_NAMED:,} more" if len(lines) > MOST_NAMED else ""
    places = f"line {named}" if len(lines) == 1 else f"lines {named}{more}"
    return Note(file, lines[0], quoted(name), f"Unknown field on {places}; not imported.")
