"""Our own export of a run, read again: checked as a whole, with the line of what does not fit."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any, NoReturn

from pydantic import ValidationError

from refinement.engine.codec import rubric_from_json
from refinement.engine.types import Rubric
from refinement.interchange.exports.figures import compute
from refinement.interchange.imports.document import MOST_ROUNDS, Part, RunDocument
from refinement.interchange.imports.found import Found, Notes, SourceFile, key_of, text_of, too_deep
from refinement.interchange.rubrics.yaml import BadFile, rubric_from_yaml, rubric_to_yaml
from refinement.judging.checks import is_script

FORMAT_KEY = "wiggum_run"
MOST_PROBLEMS = 50
# What is another's number, or where the run lives, says nothing about whether it is the same run.
NOT_CONTENT = ("id", "project", "rerun_of")


def document_run(file: SourceFile) -> Found:
    """The file's run; what is wrong with it is in the notes, and then there is no document."""
    notes = Notes(file.name)
    found = Found("wiggum", file.name, "")
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
        notes.add(0, "", f"This is not a run's export: such a file begins with {FORMAT_KEY}.")
        return None
    if value[FORMAT_KEY] != 1:
        why = "Only format 1 is known here. Import it into the Wiggum that wrote it, or a newer one."
        notes.add(0, f"{FORMAT_KEY}: {value[FORMAT_KEY]}", why)
        return None
    return value


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


class _Lines:
    """Where an entry of a list stands: our exports give each a line of its own."""

    def __init__(self, text: str) -> None:
        self.starts = {
            line[1 : line.index('"', 1)]: number
            for number, line in enumerate(text.split("\n"), 1)
            if line.startswith('"') and '": ' in line
        }

    def of(self, path: tuple[int | str, ...]) -> int:
        """The line of the first two steps of a path; 0 where the file is laid out otherwise."""
        start = self.starts.get(str(path[0]), 0) if path else 0
        return start + 1 + path[1] if start and len(path) > 1 and isinstance(path[1], int) else start


def _validated(value: dict[str, Any], lines: _Lines, notes: Notes) -> RunDocument | None:
    try:
        return RunDocument.model_validate(value)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False)[:MOST_PROBLEMS]:
            path = problem["loc"]
            said = problem["msg"].removeprefix("Value error, ")
            notes.add(
                lines.of(path), ".".join(str(part) for part in path), f"{said}. The run is not imported."
            )
        return None


def _is_whole(document: RunDocument, notes: Notes) -> bool:
    """Whether its rounds are there in order; a run that was still going on is not imported."""
    numbers = [entry.number for entry in document.rounds]
    if numbers != list(range(1, len(numbers) + 1)) or len(numbers) > MOST_ROUNDS:
        notes.add(0, "rounds", "Rounds are numbered from 1, each once and in order. The run is not imported.")
        return False
    if document.run.finished_at is None:
        notes.add(0, "finished_at", "The run was not finished. Export it again when it is.")
        return False
    for entry in document.rounds:
        if not entry.candidate and entry.origin != "absent":
            notes.add(0, f"round {entry.number}", "A round without its text. The run is not imported.")
            return False
    if any(score.round not in numbers for score in document.human_scores):
        notes.add(0, "human_scores", "A score of a round that is not there. The run is not imported.")
        return False
    return _is_single(document, notes)


def _is_single(document: RunDocument, notes: Notes) -> bool:
    """Whether what is once in a run is in it once."""
    places: list[tuple[str, list[object]]] = [
        ("calls", [(call.round_number, call.role, call.attempt) for call in document.calls]),
        ("decisions", [decision.number for decision in document.decisions]),
    ]
    for entry in document.rounds:
        places.append((f"verdicts of round {entry.number}", [said.position for said in entry.verdicts]))
        places.append((f"checks of round {entry.number}", [check.key for check in entry.checks]))
    for name, keys in places:
        if len(keys) != len(set(keys)):
            notes.add(0, name, "Two entries bear the same number or name. The run is not imported.")
            return False
    return True


def whole_rubric(document: RunDocument) -> Rubric:
    """The rubric that the run was made with, its seed calibration included."""
    rubric, kept = rubric_from_json(document.run.snapshot), document.run.calibration
    if not kept:
        return rubric
    scores = {str(key): Decimal(str(score)) for key, score in dict(kept["scores"]).items()}
    return replace(rubric, seed_text=str(kept["text"]), seed_scores=scores)


def without_scripts(rubric: Rubric) -> Rubric:
    """The rubric with another check in each script's place.

    No file may bring a script that is to be run; a run that had one is read with what it said.
    """
    checks = (
        replace(check, kind="is-json", parameters={}) if is_script(check) else check
        for check in rubric.checks
    )
    return replace(rubric, checks=tuple(checks))


def _computed(document: RunDocument, found: Found, notes: Notes) -> list[str]:
    """Figures made anew; the sentences where the file says otherwise."""
    try:
        rubric = whole_rubric(document)
        # A rubric that is written and read as a file is checked by all rules that hold for files.
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
    """Fields that this Wiggum does not know, by the record that they stand in."""
    for name in document.unknown:
        notes.add(lines.of((name,)), name, "This field is not known and not taken over.")
    for name in document.run.unknown:
        notes.add(lines.of(("run",)), f"run.{name}", "This field is not known and not taken over.")
    for place in ("rounds", "calls", "events", "human_scores", "decisions", "instructions"):
        told: set[str] = set()
        entries: list[Part] = getattr(document, place)
        for index, entry in enumerate(entries):
            for name in entry.unknown:
                if name not in told:
                    notes.add(
                        lines.of((place, index)),
                        f"{place}.{name}",
                        "This field is not known and not taken over.",
                    )
                told.add(name)


def _content(value: dict[str, Any]) -> dict[str, Any]:
    run = {name: entry for name, entry in value["run"].items() if name not in NOT_CONTENT}
    return {**value, "run": run}
