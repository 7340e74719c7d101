"""Reads the rounds in a line of `runs.jsonl`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from refinement.interchange.imports.found import Notes
from refinement.interchange.imports.written_scores import written_score

MOST_ROUNDS = 500
MOST_DIMS = 40
ROUND_NAME = re.compile(r"(?:r|round)?[ _-]?(\d{1,4})\Z", re.IGNORECASE | re.ASCII)
ROUND_FIELDS = (
    "wiggum_scores", "wiggum_dims", "wiggum_dimensions", "wiggum_composites", "wiggum_issues",
    "wiggum_eval_log",
)  # fmt: skip
NOT_DIMS = frozenset({"issues", "feedback"})


@dataclass(slots=True)
class LineRound:
    """One round in a line: scores by dimension, the stated composite, and texts."""

    number: int
    dims: dict[str, Decimal] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)  # dimensions without a valid score
    stated: Decimal | None = None
    issues: list[str] = field(default_factory=list)
    feedback: str = ""
    content: str = ""
    change: str = ""


class _Reader:
    """Collects rounds from the fields of a line."""

    def __init__(self, line: int, notes: Notes) -> None:
        self.line, self.notes = line, notes
        self.rounds: dict[int, LineRound] = {}

    def round(self, number: int) -> LineRound | None:
        if not 1 <= number <= MOST_ROUNDS:
            self.note(f"round {number}", f"Round numbers must be from 1 to {MOST_ROUNDS}.")
            return None
        return self.rounds.setdefault(number, LineRound(number))

    def note(self, text: str, why: str) -> None:
        self.notes.add(self.line, text, why)

    def number(self, value: object, name: str) -> Decimal | None:
        """A number, which may be text such as `~7`."""
        if isinstance(value, bool) or not isinstance(value, (int, Decimal, str)):
            if value is not None:
                self.note(f"{name}: {value}", "Not a score.")
            return None
        read = written_score(
            value if isinstance(value, str) else f"{value:f}" if isinstance(value, Decimal) else str(value)
        )
        if read is None:
            self.note(f"{name}: {value}", "Not a score.")
            return None
        for note in read.notes:
            self.note(f"{name}: {value}", note)
        return read.value

    def dims(self, entry: LineRound, values: Mapping[str, Any]) -> None:
        """Reads scores by dimension. Invalid scores are noted."""
        for name, value in list(values.items())[: MOST_DIMS + len(NOT_DIMS)]:
            if name in NOT_DIMS:
                self.texts(entry, {name: value})
                continue
            score = self.number(value, f"r{entry.number} {name}")
            if score is None:
                entry.unreadable.append(name)
            elif entry.dims.setdefault(name, score) != score:
                self.note(
                    f"r{entry.number} {name}: {score:f}",
                    f"Another field has {entry.dims[name]:f}, which is used.",
                )

    def texts(self, entry: LineRound, values: Mapping[str, Any]) -> None:
        issues = values.get("issues")
        if isinstance(issues, list) and not entry.issues:
            entry.issues = [str(issue) for issue in issues]
        for name in ("feedback", "content"):
            text = values.get(name)
            if isinstance(text, str) and text.strip() and not getattr(entry, name):
                setattr(entry, name, text)

    def state(self, entry: LineRound, value: object) -> None:
        score = self.number(value, f"r{entry.number} score")
        if score is not None and entry.stated is None:
            entry.stated = score


def rounds_of(record: Mapping[str, Any], line: int, notes: Notes) -> list[LineRound]:
    """The rounds that occur in the line, in order."""
    reader = _Reader(line, notes)
    for name in ROUND_FIELDS:
        for number, value in _by_round(record.get(name), name, reader):
            entry = reader.round(number)
            if entry is not None:
                _take(reader, entry, name, value)
    for number, change in _by_round(record.get("wiggum_key_changes"), "wiggum_key_changes", reader):
        if number in reader.rounds and isinstance(change, str):
            reader.rounds[number].change = change
    return [reader.rounds[number] for number in sorted(reader.rounds)]


def _by_round(values: object, name: str, reader: _Reader) -> list[tuple[int, Any]]:
    """Pairs of round and value, from `{"r1": …}` or a list whose entries may have a `round`."""
    if values is None or values in ([], {}):
        return []
    if isinstance(values, list):
        if name == "wiggum_issues" and all(isinstance(value, str) for value in values):
            reader.note(name, "The issues have no round; they are added to the last round.")
            return [(max(reader.rounds, default=1), values)]
        return [(_number_in(value, place), value) for place, value in enumerate(values, 1)]
    if isinstance(values, dict):
        pairs = []
        for key, value in values.items():
            match = ROUND_NAME.match(key)
            if match is None:
                reader.note(f"{name}: {key}", "Not a round name such as r1 or round_1.")
            else:
                pairs.append((int(match[1]), value))
        return pairs
    reader.note(f"{name}: {values}", "Scores by round must be an object or a list.")
    return []


def _number_in(value: object, place: int) -> int:
    number = value.get("round") if isinstance(value, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else place


def _take(reader: _Reader, entry: LineRound, name: str, value: Any) -> None:
    if name == "wiggum_issues":
        reader.texts(entry, {"issues": value})
    elif not isinstance(value, dict):
        reader.state(entry, value)
    elif name == "wiggum_eval_log" or "dims" in value or "score" in value:
        if "score" in value:
            reader.state(entry, value["score"])
        inner = value.get("dims", value.get("dimensions"))
        if isinstance(inner, dict):
            reader.dims(entry, inner)
        reader.texts(entry, value)
        _note_unknown_fields(reader, entry, name, value)
    else:
        reader.dims(entry, value)


def _note_unknown_fields(reader: _Reader, entry: LineRound, name: str, value: Mapping[str, Any]) -> None:
    known = {"round", "score", "dims", "dimensions", "issues", "feedback", "content"}
    for key in sorted(value.keys() - known):
        reader.note(f"{name}, round {entry.number}: {key}", "Unknown field; not imported.")
