"""Trying checks on a text from unsaved fields."""

from dataclasses import dataclass

from refinement.engine.types import Check, CheckResult, Place
from refinement.forms.rubrics.initial import Fields
from refinement.forms.rubrics.rows import Problems, read_kind, row_numbers
from refinement.judging.checks import KINDS, run_checks
from refinement.judging.isolation import time_limit

TEXT_LIMIT = 200_000
AROUND = 60


@dataclass(frozen=True, slots=True)
class Tried:
    """A check's result on the text, and where."""

    number: str
    label: str
    passed: bool
    message: str
    where: str = ""
    before: str = ""
    match: str = ""
    after: str = ""


def checks_tried(fields: Fields, wanted: str) -> list[Tried]:
    """Tries the check in this row, or all in order, on the submitted text."""
    text = fields.get("try-text", "")
    numbers = [number for number in row_numbers(fields, "check") if wanted in (number, "all")]
    if len(text) > TEXT_LIMIT:
        said = f"{len(text):,} characters; at most {TEXT_LIMIT:,} can be tried. Shorten the text."
        return [Tried(number, _label(fields, number), False, said) for number in numbers]
    with time_limit():
        return [_tried(fields, number, text) for number in numbers]


def _tried(fields: Fields, number: str, text: str) -> Tried:
    label, problems = _label(fields, number), Problems()
    read = read_kind(fields, f"check-{number}-", None, problems)
    if problems.by_field:
        said = " ".join(message for messages in problems.by_field.values() for message in messages)
        return Tried(number, label, False, f"The check is not valid. {said}")
    result = run_checks((Check("tried", read["kind"], read["parameters"]),), text)[0]
    return _told(number, label, result, text)


def _told(number: str, label: str, result: CheckResult, text: str) -> Tried:
    place = result.place
    if place is None:
        return Tried(number, label, result.passed, result.message)
    return Tried(
        number,
        label,
        result.passed,
        result.message,
        _where(place, text),
        text[max(0, place.start - AROUND) : place.start],
        text[place.start : min(place.end, place.start + 4 * AROUND)],
        text[place.end : place.end + AROUND],
    )


def _where(place: Place, text: str) -> str:
    line = text.count("\n", 0, place.start) + 1
    column = place.start - (text.rfind("\n", 0, place.start) + 1) + 1
    return f"line {line}, column {column}"


def _label(fields: Fields, number: str) -> str:
    kind = KINDS.get(fields.get(f"check-{number}-kind", ""))
    return fields.get(f"check-{number}-key", "") or (kind.label if kind else "Check")
