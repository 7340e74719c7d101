"""Rows of criteria and checks: numbering, order and parsing."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.utils.text import slugify

from refinement.engine.types import Check, Criterion, Severity
from refinement.forms.rubrics import values
from refinement.forms.rubrics.initial import Fields
from refinement.forms.rubrics.weights import shown_weight, stored_weight, unit_of
from refinement.judging.checks import KINDS, CheckKind, Parameter, ParameterType, check_problems
from refinement.judging.checks.kinds import with_defaults
from refinement.selectors.rubrics.words import check_name

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


def read_criteria(
    fields: Fields, known: Mapping[str, Criterion], problems: Problems
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each criterion as JSON, with its row number and its earlier key; `known` are the edited version's."""
    seen: dict[str, int] = {}
    unit = unit_of(criterion.weight for criterion in known.values())
    for number in row_numbers(fields, "criterion"):
        start = f"criterion-{number}-"
        before = known.get(fields.get(f"{start}was", ""))
        row = {
            "key": _distinct(_criterion_key(fields, start), fields, start, seen, problems),
            "name": problems.take(f"{start}name", "", _name, fields.get(f"{start}name", "")),
            "description": _description(fields, start, before, problems),
            "ideal": _text(fields, f"{start}ideal", TEXT_LIMIT, problems),
            "weight": _criterion_weight(fields, start, before, unit, problems),
            "primary": fields.get("primary") == number,
        }
        yield number, fields.get(f"{start}was", ""), row


def read_checks(
    fields: Fields, known: Mapping[str, Check], problems: Problems
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each check as JSON, with its row number; `known` are the edited version's checks."""
    seen: dict[str, int] = {}
    for number in row_numbers(fields, "check"):
        start = f"check-{number}-"
        row = {
            "key": _distinct(_check_key(fields, start), fields, start, seen, problems),
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


def _criterion_key(fields: Fields, start: str) -> str:
    """The typed key, or one made from the name."""
    return fields.get(f"{start}key", "").strip() or slugify(fields.get(f"{start}name", ""))[:KEY_LIMIT]


def _check_key(fields: Fields, start: str) -> str:
    """The key of a check's name; the earlier key if the name is unchanged."""
    typed, was = fields.get(f"{start}key", "").strip(), fields.get(f"{start}was", "")
    if typed == check_name(was):
        return was
    return typed if values.KEY.fullmatch(typed) else slugify(typed) or typed


def _distinct(key: str, fields: Fields, start: str, seen: dict[str, int], problems: Problems) -> str:
    """The key, if it is valid and no earlier row has it."""
    found: str = problems.take(
        f"{start}key", "", values.key_of, key, fields.get(f"{start}was", ""), KEY_LIMIT
    )
    if found and found in seen:
        problems.add(f"{start}key", f"Number {seen[found]} in the list has the same one. Choose another.")
    elif found:
        seen[found] = len(seen) + 1
    return found


def _description(fields: Fields, start: str, before: Criterion | None, problems: Problems) -> str:
    """Required, because the judge scores by it. Older versions without one can be saved as they are."""
    text = _text(fields, f"{start}description", TEXT_LIMIT, problems)
    if not text.strip() and (before is None or before.description):
        problems.add(f"{start}description", "Describe what is scored. The judge sees only this text.")
    return text


def _criterion_weight(
    fields: Fields, start: str, before: Criterion | None, unit: Decimal, problems: Problems
) -> str:
    typed = fields.get(f"{start}weight", "")
    if before is not None and typed.strip() == shown_weight(before.weight, unit):
        return str(before.weight)
    return str(problems.take(f"{start}weight", 1, stored_weight, typed, unit))


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
