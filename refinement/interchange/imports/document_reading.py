"""Reads and validates JSON exports of runs."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any, NoReturn

from pydantic import ValidationError

from refinement.engine.codec import rubric_from_json
from refinement.engine.types import Rubric
from refinement.interchange.exports.figures import compute
from refinement.interchange.imports.document import Part, RunDocument
from refinement.interchange.imports.document_types import MOST_ROUNDS
from refinement.interchange.imports.found import FoundRun, Notes, SourceFile, key_of, text_of, too_deep
from refinement.interchange.rubrics.yaml import BadFile, rubric_from_yaml, rubric_to_yaml
from refinement.judging.checks import is_local

FORMAT_KEY = "wiggum_run"
MOST_PROBLEMS = 50
# Fields that differ between copies of the same run.
NOT_CONTENT = ("id", "project", "rerun_of")
LISTS = ("sources", "rounds", "calls", "events", "human_scores", "decisions", "instructions", "feedback")


def document_run(file: SourceFile) -> FoundRun:
    """The run in the file. If it is not valid, it has no document and the notes say why."""
    notes = Notes(file.name)
    found = FoundRun("wiggum", file.name, "")
    text = text_of(file, notes)
    value = _loaded(text, notes) if text is not None else None
    if text is not None and value is not None:
        lines = _Lines(text)
        document = _validated(value, lines, notes)
        if document is not None and _is_whole(document, notes):
            _name_unknown(document, lines, notes)
            found.document, found.title = document, document.run.title
            found.key = key_of("wiggum", _content(value))
            found.stated = {"contradictions": _computed(document, found, notes)}
    found.notes = notes.found
    return found


def _loaded(text: str, notes: Notes) -> dict[str, Any] | None:
    try:
        value = json.loads(text, parse_constant=_refused)
    except RecursionError:
        notes.add(0, "", "The file is nested too deeply.")
        return None
    except json.JSONDecodeError as error:
        notes.add(error.lineno, "", f"This is not valid JSON: {error.msg}.")
        return None
    except ValueError as error:
        notes.add(0, "", f"This is not valid JSON: {error}.")
        return None
    if too_deep(value):
        notes.add(0, "", "The file is nested too deeply.")
        return None
    if not isinstance(value, dict) or FORMAT_KEY not in value:
        notes.add(0, "", f"Not a run export: the {FORMAT_KEY} field is missing.")
        return None
    if value[FORMAT_KEY] != 1:
        why = "Only format 1 is supported. Use a newer version of Wiggum."
        notes.add(0, f"{FORMAT_KEY}: {value[FORMAT_KEY]}", why)
        return None
    return value


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


class _Lines:
    """The line numbers of list entries. Exports write one entry per line."""

    def __init__(self, text: str) -> None:
        self.starts = {
            line[1 : line.index('"', 1)]: number
            for number, line in enumerate(text.split("\n"), 1)
            if line.startswith('"') and '": ' in line
        }

    def of(self, path: tuple[int | str, ...]) -> int:
        """The line of the first two parts of a path; 0 if the file has another layout."""
        start = self.starts.get(str(path[0]), 0) if path else 0
        return start + 1 + path[1] if start and len(path) > 1 and isinstance(path[1], int) else start


def _validated(value: dict[str, Any], lines: _Lines, notes: Notes) -> RunDocument | None:
    try:
        return RunDocument.model_validate(value)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False)[:MOST_PROBLEMS]:
            path = problem["loc"]
            message = problem["msg"].removeprefix("Value error, ")
            notes.add(
                lines.of(path), ".".join(str(part) for part in path), f"{message}. The run is not imported."
            )
        return None


def _is_whole(document: RunDocument, notes: Notes) -> bool:
    """Whether the run is finished and its rounds are complete and in order."""
    numbers = [entry.number for entry in document.rounds]
    if numbers != list(range(1, len(numbers) + 1)) or len(numbers) > MOST_ROUNDS:
        notes.add(0, "rounds", "Rounds must be numbered from 1, without gaps. The run is not imported.")
        return False
    if document.run.finished_at is None:
        notes.add(0, "finished_at", "The run was not finished. Export it again when it has finished.")
        return False
    for entry in document.rounds:
        if not entry.candidate and entry.origin != "absent":
            notes.add(0, f"round {entry.number}", "The round has no text. The run is not imported.")
            return False
    if any(score.round not in numbers for score in document.human_scores):
        notes.add(0, "human_scores", "A score belongs to a missing round. The run is not imported.")
        return False
    seats = {judge.seat for judge in document.run.panel}
    if any(answer.seat not in seats for entry in document.rounds for answer in entry.board):
        notes.add(0, "board", "A judge of a board is not among the run's judges. The run is not imported.")
        return False
    return _has_unique_keys(document, notes)


def _has_unique_keys(document: RunDocument, notes: Notes) -> bool:
    """Whether calls, decisions, verdicts and checks have unique keys."""
    places: list[tuple[str, list[object]]] = [
        ("calls", [(call.round_number, call.purpose, call.seat, call.attempt) for call in document.calls]),
        ("decisions", [decision.number for decision in document.decisions]),
        ("feedback", [(entry.round, entry.kind, entry.position) for entry in document.feedback]),
    ]
    for entry in document.rounds:
        places.append((f"verdicts of round {entry.number}", [verdict.position for verdict in entry.verdicts]))
        places.append((f"board of round {entry.number}", [answer.seat for answer in entry.board]))
        places.append((f"checks of round {entry.number}", [check.key for check in entry.checks]))
    for name, keys in places:
        if len(keys) != len(set(keys)):
            notes.add(0, name, "Two entries have the same number or name. The run is not imported.")
            return False
    return True


def whole_rubric(document: RunDocument) -> Rubric:
    """The run's rubric, including its calibration example."""
    rubric, calibration = rubric_from_json(document.run.snapshot), document.run.calibration
    if not calibration:
        return rubric
    scores = {str(key): Decimal(str(score)) for key, score in dict(calibration["scores"]).items()}
    return replace(rubric, calibration_text=str(calibration["text"]), calibration_scores=scores)


def without_scripts(rubric: Rubric) -> Rubric:
    """The rubric with scripts replaced by another check.

    Imported scripts are never run. Only their recorded results are read.
    """
    checks = (
        replace(check, kind="is-json", parameters={}) if is_local(check) else check for check in rubric.checks
    )
    return replace(rubric, checks=tuple(checks))


def _computed(document: RunDocument, found: FoundRun, notes: Notes) -> list[str]:
    """Recomputes the figures. Returns where the file differs."""
    try:
        rubric = whole_rubric(document)
        # Writing and reading the rubric as YAML applies all validation rules of rubric files.
        rubric_from_yaml(rubric_to_yaml(without_scripts(rubric)))
        return compute(document, rubric)
    except BadFile as error:
        notes.add(0, "snapshot", f"{error.problems[0].message} The run is not imported.")
        found.document = None
        return []
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        notes.add(0, "snapshot, calibration or rounds", f"{error}. The run is not imported.")
        found.document = None
        return []


def _name_unknown(document: RunDocument, lines: _Lines, notes: Notes) -> None:
    """Adds notes about unknown fields."""
    for name in document.unknown:
        notes.add(lines.of((name,)), name, "Unknown field; not imported.")
    for name in document.run.unknown:
        notes.add(lines.of(("run",)), f"run.{name}", "Unknown field; not imported.")
    for place in LISTS:
        reported: set[str] = set()
        entries: list[Part] = getattr(document, place)
        for index, entry in enumerate(entries):
            for name in entry.unknown:
                if name not in reported:
                    notes.add(
                        lines.of((place, index)),
                        f"{place}.{name}",
                        "Unknown field; not imported.",
                    )
                reported.add(name)


def _content(value: dict[str, Any]) -> dict[str, Any]:
    run = {name: entry for name, entry in value["run"].items() if name not in NOT_CONTENT}
    rest = {name: entry for name, entry in value.items() if name != "feedback"}  # worked out from the rounds
    return {**rest, "run": run}
