"""Rows of criteria and checks: numbering, order and parsing."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from refinement.engine.types import Check, Severity
from refinement.forms.rubrics import values
from refinement.forms.rubrics.initial import Fields
from refinement.judging.checks import KINDS, CheckKind, Parameter, ParameterType, check_problems
from refinement.judging.checks.kinds import with_defaults

KEY_LIMIT = 60
NAME_LIMIT = 120
TEXT_LIMIT = 4_000
SUGGESTION_LIMIT = 2_000
PARAMETER_LIMIT = 50_000
MOST_CRITERIA = 100
MOST_CHECKS = 200

_NUMBER = re.compile(r"[0-9]{1,6}")


@dataclass
class Problems:
    """Errors by field, in page order."""

    by_field: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, message: str) -> None:
        self.by_field.setdefault(name, []).append(message)

    def take(self, name: str, otherwise: Any, read: Callable[..., Any], *given: Any) -> Any:
        """The result of `read`; if it raises Refused, records the error and returns `otherwise`."""
        try:
            return read(*given)
        except values.Refused as refusal:
            self.add(name, str(refusal))
            return otherwise


def all_numbers(fields: Mapping[str, str], noun: str) -> list[str]:
    """Row numbers of this noun, including rows to be removed."""
    start = f"{noun}-"
    numbers = (name.removeprefix(start).partition("-")[0] for name in fields if name.startswith(start))
    return [number for number in dict.fromkeys(numbers) if _NUMBER.fullmatch(number)]


def row_numbers(fields: Mapping[str, str], noun: str) -> list[str]:
    """Row numbers of this noun in the submitted order, without rows to be removed."""
    kept = [number for number in all_numbers(fields, noun) if not fields.get(f"{noun}-{number}-remove")]
    return sorted(kept, key=lambda number: (place_of(fields.get(f"{noun}-{number}-order", "")), int(number)))


def next_number(fields: Mapping[str, str], noun: str) -> int:
    """The number of a new row of this noun."""
    return max((int(number) for number in all_numbers(fields, noun)), default=-1) + 1


def place_of(text: str) -> Decimal:
    """A submitted position; non-numbers come last."""
    try:
        return values.number_of(text, None, None, 4)
    except values.Refused:
        return Decimal(10**13)


def read_criteria(fields: Fields, problems: Problems) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each criterion as JSON, with its row number and its earlier key."""
    seen: dict[str, int] = {}
    for place, number in enumerate(row_numbers(fields, "criterion"), start=1):
        start = f"criterion-{number}-"
        row = {
            "key": _key(fields, start, seen, place, "criterion", problems),
            "name": problems.take(f"{start}name", "", _name, fields.get(f"{start}name", "")),
            "description": _text(fields, f"{start}description", TEXT_LIMIT, problems),
            "ideal": _text(fields, f"{start}ideal", TEXT_LIMIT, problems),
            "weight": _weight(fields, start, problems),
            "primary": fields.get("primary") == number,
        }
        yield number, fields.get(f"{start}was", ""), row


def read_checks(
    fields: Fields, known: Mapping[str, Check], problems: Problems
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each check as JSON, with its row number; `known` are the edited version's checks."""
    seen: dict[str, int] = {}
    for place, number in enumerate(row_numbers(fields, "check"), start=1):
        start = f"check-{number}-"
        row = {
            "key": _key(fields, start, seen, place, "check", problems),
            "severity": problems.take(
                f"{start}severity",
                Severity.ERROR.value,
                values.choice_of,
                fields.get(f"{start}severity", ""),
                Severity,
            ),
            "weight": _weight(fields, start, problems),
            "suggestion": _text(fields, f"{start}suggestion", SUGGESTION_LIMIT, problems),
            **read_kind(fields, start, known.get(fields.get(f"{start}was", "")), problems),
        }
        yield number, row


def read_kind(fields: Fields, start: str, known: Check | None, problems: Problems) -> dict[str, Any]:
    """A check's kind and parameters as JSON; errors are added to their fields."""
    kind = KINDS.get(fields.get(f"{start}kind", ""))
    if kind is None:
        problems.add(f"{start}key", "This kind of check is not available. Remove the check to save.")
        return {"kind": fields.get(f"{start}kind", ""), "parameters": {}}
    before = len(problems.by_field)
    given: dict[str, Any] = {}
    for parameter in kind.parameters:
        name = f"{start}p-{parameter.name}"
        value = problems.take(name, None, parameter_value, parameter, fields.get(name, ""))
        if value is not None:
            given[parameter.name] = value
    if len(problems.by_field) == before:
        _judge_parameters(kind, given, start, problems)
    return {"kind": kind.name, "parameters": _as_before(kind, given, known)}


def _judge_parameters(kind: CheckKind, given: dict[str, Any], start: str, problems: Problems) -> None:
    for problem in check_problems(Check("key", kind.name, given), probe=True):
        problems.add(f"{start}{_at_fault(kind, problem)}", problem)


def _at_fault(kind: CheckKind, problem: str) -> str:
    """The field of an error: the parameter it names, else the first one, else the key."""
    for parameter in kind.parameters:
        if problem.startswith(parameter.label) or parameter.label.lower() in problem.lower():
            return f"p-{parameter.name}"
    return f"p-{kind.parameters[0].name}" if kind.parameters else "key"


def parameter_value(parameter: Parameter, text: str) -> Any:
    """The field's value in the parameter's type; None if empty."""
    if parameter.type is ParameterType.FLAG:
        return bool(text) if bool(text) != bool(parameter.default) else None
    values.text_within(text, PARAMETER_LIMIT)
    if parameter.type is ParameterType.LINES:
        lines = [line for line in text.split("\n") if line.strip()]
        return lines if lines and lines != list(parameter.default or ()) else None  # type: ignore[call-overload]
    if not text.strip():
        if parameter.required:
            raise values.Refused(f"{parameter.label} is required.")
        return None
    return _typed(parameter, text)


def _typed(parameter: Parameter, text: str) -> Any:
    if parameter.type is ParameterType.COUNT:
        return values.whole_of(text, Decimal(0), Decimal(10**9))
    if parameter.type is ParameterType.CHOICE:
        chosen = values.choice_of(text, parameter.choices)
        return None if chosen == parameter.default else chosen
    if parameter.type is ParameterType.JSON:
        return values.schema_of(text)
    return text


def _as_before(kind: CheckKind, given: dict[str, Any], known: Check | None) -> Any:
    """The saved parameters if they are equivalent, so that explicit defaults are kept."""
    if known is None or known.kind != kind.name:
        return given
    same = _plain(with_defaults(kind, known.parameters)) == _plain(with_defaults(kind, given))
    return dict(known.parameters) if same else given


def _plain(parameters: Mapping[str, object]) -> str:
    return json.dumps(parameters, sort_keys=True, default=dict)


def _key(fields: Fields, start: str, seen: dict[str, int], place: int, noun: str, problems: Problems) -> str:
    was = fields.get(f"{start}was", "")
    key: str = problems.take(f"{start}key", "", values.key_of, fields.get(f"{start}key", ""), was, KEY_LIMIT)
    if key and key in seen:
        problems.add(f"{start}key", f"The {noun} in position {seen[key]} has the same key. Choose another.")
    elif key:
        seen[key] = place
    return key


def _name(text: str) -> str:
    name = text.strip()
    if not name:
        raise values.Refused("Enter a name, such as Depth.")
    return values.text_within(name, NAME_LIMIT)


def _text(fields: Fields, name: str, limit: int, problems: Problems) -> str:
    text: str = problems.take(name, "", values.text_within, fields.get(name, ""), limit)
    return text


def _weight(fields: Fields, start: str, problems: Problems) -> str:
    return str(problems.take(f"{start}weight", 1, values.weight_of, fields.get(f"{start}weight", "")))
