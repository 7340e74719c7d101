"""What a kind of check is: its parameters as data for forms, and the function that carries it out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from refinement.engine.types import Place

Parameters: TypeAlias = Mapping[str, object]

QUOTED_CHARS = 80
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
    """One setting of a check, as a form shows it; a default of None means it can stay empty."""

    name: str
    label: str
    type: ParameterType
    default: object = None
    required: bool = False
    choices: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: nothing to say when it passed, what is wrong and where when it did not."""

    passed: bool
    message: str = ""
    place: Place | None = None


PASSED = Finding(True)


@dataclass(frozen=True, slots=True)
class CheckKind:
    """A sort of check; `problems` looks at parameters beyond their types, when a check is saved."""

    name: str
    label: str
    description: str
    parameters: tuple[Parameter, ...]
    run: Callable[[Parameters, str], Finding]
    problems: Callable[[Parameters], list[str]] = lambda parameters: []


def with_defaults(kind: CheckKind, given: Parameters) -> dict[str, object]:
    """The given parameters, and the kind's defaults for those that are left out or empty."""
    values: dict[str, object] = {parameter.name: parameter.default for parameter in kind.parameters}
    values.update({name: value for name, value in given.items() if value is not None and value != ""})
    return values


def type_problems(kind: CheckKind, given: Parameters) -> list[str]:
    """What is missing, unknown or of the wrong type among the given parameters."""
    known = {parameter.name: parameter for parameter in kind.parameters}
    listed = ", ".join(known) or "none"
    problems = [
        f"{kind.label} has no parameter {name!r}; it has: {listed}." for name in given if name not in known
    ]
    values = with_defaults(kind, given)
    for parameter in kind.parameters:
        value = values[parameter.name]
        if value is None:
            problems += [f"{parameter.label} is required."] if parameter.required else []
        elif not _fits(parameter, value):
            problems.append(f"{parameter.label} must be {_WORDS[parameter.type](parameter)}.")
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


_WORDS: Mapping[ParameterType, Callable[[Parameter], str]] = {
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
    """What is wrong with a minimum and a maximum."""
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
