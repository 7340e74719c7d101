"""Describes kinds of checks: their parameters as data for forms, and the function that runs them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from enum import StrEnum
from typing import TypeAlias

from refinement.engine.types import Place

Parameters: TypeAlias = Mapping[str, object]

QUOTED_CHARS = 80
MILLIONTH = Decimal("0.000001")
MOST_COUNT = 10**9


class ParameterType(StrEnum):
    TEXT = "text"
    FLAG = "flag"
    COUNT = "count"
    CHOICE = "choice"
    LINES = "lines"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One setting of a check, as shown in a form. With a default of None it may be empty."""

    name: str
    label: str
    type: ParameterType
    default: object = None
    required: bool = False
    choices: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check. If it failed, `message` says what is wrong and `place` where."""

    passed: bool
    message: str = ""
    place: Place | None = None
    score: Decimal | None = None  # 0 to 1, if the check measures; None: 1 if it passed, else 0


PASSED = Finding(True)


class Broken(Exception):
    """The check itself failed, which says nothing about the text. The message is a sentence."""


@dataclass(frozen=True, slots=True)
class CheckKind:
    """A kind of check. `problems` validates parameters beyond their types when a check is saved."""

    name: str
    label: str
    description: str
    parameters: tuple[Parameter, ...]
    run: Callable[[Parameters, str], Finding]
    problems: Callable[[Parameters], list[str]] = lambda parameters: []


def with_defaults(kind: CheckKind, parameters: Parameters) -> dict[str, object]:
    """The parameters, with the kind's defaults for missing and empty ones."""
    values: dict[str, object] = {parameter.name: parameter.default for parameter in kind.parameters}
    values.update({name: value for name, value in parameters.items() if value is not None and value != ""})
    return values


def type_problems(kind: CheckKind, parameters: Parameters) -> list[str]:
    """Missing, unknown and wrongly typed parameters, as sentences."""
    known = {parameter.name: parameter for parameter in kind.parameters}
    listed = ", ".join(known) or "none"
    problems = [
        f"{kind.label} has no parameter {name!r}; it has: {listed}."
        for name in parameters
        if name not in known
    ]
    values = with_defaults(kind, parameters)
    for parameter in kind.parameters:
        value = values[parameter.name]
        if value is None:
            problems += [f"{parameter.label} is required."] if parameter.required else []
        elif not _fits(parameter, value):
            problems.append(f"{parameter.label} must be {_EXPECTED[parameter.type](parameter)}.")
    return problems


def _fits(parameter: Parameter, value: object) -> bool:
    match parameter.type:
        case ParameterType.TEXT:
            return isinstance(value, str)
        case ParameterType.FLAG:
            return isinstance(value, bool)
        case ParameterType.COUNT:
            return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_COUNT
        case ParameterType.CHOICE:
            return value in parameter.choices
        case ParameterType.LINES:
            return isinstance(value, (list, tuple)) and all(isinstance(line, str) for line in value)
        case ParameterType.JSON:
            return isinstance(value, (Mapping, str, bool))


_EXPECTED: Mapping[ParameterType, Callable[[Parameter], str]] = {
    ParameterType.TEXT: lambda parameter: "a text",
    ParameterType.FLAG: lambda parameter: "true or false",
    ParameterType.COUNT: lambda parameter: f"a whole number, 0 or more and at most {MOST_COUNT:,}",
    ParameterType.CHOICE: lambda parameter: f"one of: {', '.join(parameter.choices)}",
    ParameterType.LINES: lambda parameter: "a list of texts",
    ParameterType.JSON: lambda parameter: "a JSON schema",
}


def count_of(parameters: Parameters, name: str) -> int | None:
    """A whole-number parameter, or None when it is not set."""
    value = parameters.get(name)
    return value if isinstance(value, int) else None


def range_problems(parameters: Parameters) -> list[str]:
    """Problems with a minimum and a maximum."""
    low, high = count_of(parameters, "minimum"), count_of(parameters, "maximum")
    if low is None and high is None:
        return ["Set a minimum, a maximum or both."]
    if low is not None and high is not None and low > high:
        return [f"The minimum ({low:,}) is greater than the maximum ({high:,})."]
    return []


def quoted(text: str) -> str:
    """A piece of text for a message, on one line and not too long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= QUOTED_CHARS else line[: QUOTED_CHARS - 1] + '…'}”"


NEGATE = Parameter(
    "negate", "Negate", ParameterType.FLAG, default=False, description="On: passes if this does not hold."
)


def negatable(
    run: Callable[[Parameters, str], Finding], statement: Callable[[Parameters], str]
) -> Callable[[Parameters, str], Finding]:
    """The check with the `negate` parameter. `statement` starts the sentence on what must not hold."""

    def checked(parameters: Parameters, candidate: str) -> Finding:
        finding = run(parameters, candidate)
        if not parameters.get("negate"):
            return finding
        score = None if finding.score is None else 1 - finding.score
        if not finding.passed:
            return Finding(True, score=score)
        return Finding(False, f"{statement(parameters)}, which must not be.", finding.place, score)

    return checked


def decimal_of(parameters: Parameters, name: str) -> Decimal | None:
    """A parameter that is a number, given as text. Raises Broken if it is none."""
    text = str(parameters.get(name) or "").strip()
    if not text:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise Broken(f"{name} must be a number, not {quoted(text)}.") from None
    if not number.is_finite():
        raise Broken(f"{name} must be a number, not {quoted(text)}.")
    return number


def share_of(value: float) -> Decimal:
    """A measured value as a score: from 0 to 1, with six decimals."""
    bounded = min(1.0, max(0.0, value)) if value == value else 0.0
    return Decimal(repr(bounded)).quantize(MILLIONTH, rounding=ROUND_HALF_EVEN)


def share_problems(parameters: Parameters) -> list[str]:
    """Problems with a `threshold` from 0 to 1."""
    try:
        threshold = decimal_of(parameters, "threshold")
    except Broken as problem:
        return [str(problem)]
    if threshold is not None and not 0 <= threshold <= 1:
        return [f"The threshold must be between 0 and 1, not {threshold:f}."]
    return []
