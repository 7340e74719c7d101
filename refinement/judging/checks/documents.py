"""Checks on JSON: is-json, contains-json, equals-json, json-schema."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from refinement.engine.types import Place
from refinement.judging.checks.kinds import (
    NEGATE,
    PASSED,
    Broken,
    CheckKind,
    Finding,
    Parameter,
    Parameters,
    ParameterType,
    negatable,
    quoted,
)
from refinement.judging.checks.patterns import TooSlow, first_match, pattern_problems

MESSAGE_CHARS = 240
MOST_STARTS = 200  # of a JSON value in a text
_OPENING = re.compile(r"[{\[]")

_FENCED = re.compile(r"\s*(`{3,}|~{3,})[^\n`]*\n(?P<inside>.*?)\n?[ \t]*\1\s*\Z", re.DOTALL)
_TOO_DEEP = "The JSON is nested too deeply to be read."


class NotJson(Exception):
    """The text is not valid JSON. `place` is where parsing failed, if known."""

    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


def document(candidate: str) -> Any:
    """The JSON value of the candidate, which may be wrapped in one code fence. Raises NotJson."""
    fenced = _FENCED.match(candidate)
    inside = fenced.group("inside") if fenced else candidate
    offset = fenced.start("inside") if fenced else 0
    try:
        return json.loads(inside, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {candidate.count(chr(10), 0, offset + error.pos) + 1}, column {error.colno}"
        start = min(offset + error.pos, len(candidate))
        place = Place(start, min(start + 1, len(candidate)))
        raise NotJson(f"The text is not valid JSON: {error.msg} at {where}.", place) from None
    except ValueError as error:
        raise NotJson(f"The text is not valid JSON: {error}.") from None
    except RecursionError:
        raise NotJson(_TOO_DEEP) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def run_is_json(parameters: Parameters, candidate: str) -> Finding:
    try:
        document(candidate)
    except NotJson as error:
        return Finding(False, error.message, error.place)
    return PASSED


def run_json_schema(parameters: Parameters, candidate: str) -> Finding:
    try:
        value = document(candidate)
    except NotJson as error:
        return Finding(False, error.message, error.place)
    return _against_schema(parameters, value)


def _against_schema(parameters: Parameters, value: Any) -> Finding:
    try:
        worst = best_match(_validator(_schema(parameters)).iter_errors(value))
    except TooSlow as error:
        raise Broken(str(error).removeprefix("The check itself failed: ")) from None
    except BaseException as error:
        # The library's maps are written in Rust: they panic if the recursion limit is reached inside of them.
        if not isinstance(error, RecursionError) and type(error).__name__ != "PanicException":
            raise
        raise Broken("its schema or the JSON goes round in circles.") from None
    if worst is None:
        return PASSED
    where, message = shortened(worst.json_path), shortened(worst.message)
    return Finding(False, f"The JSON does not follow its schema at {where}: {message}.")


def run_contains_json(parameters: Parameters, candidate: str) -> Finding:
    """Passes if any JSON object or list in the text follows the schema, if there is one."""
    problem = Finding(False, "The text contains no JSON object or list.")
    for value in values_in(candidate):
        found = _against_schema(parameters, value) if parameters.get("schema") else PASSED
        if found.passed:
            return found
        problem = found
    return problem


def values_in(text: str) -> Iterator[Any]:
    """The outermost JSON objects and lists in the text."""
    decoder, position = json.JSONDecoder(parse_constant=_refuse_constant), 0
    for _ in range(MOST_STARTS):
        start = _OPENING.search(text, position)
        if start is None:
            return
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
            continue
        yield value


def run_equals_json(parameters: Parameters, candidate: str) -> Finding:
    try:
        value = document(candidate)
    except NotJson as error:
        return Finding(False, error.message, error.place)
    if same_json(value, json.loads(str(parameters["value"]))):
        return PASSED
    return Finding(False, f"The JSON must equal {quoted(str(parameters['value']))}.")


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON. True is not 1, and 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return bool(one == other)


def value_problems(parameters: Parameters) -> list[str]:
    try:
        json.loads(str(parameters["value"]))
    except (ValueError, RecursionError) as error:
        return [f"The value is not valid JSON: {error}."]
    return []


def optional_schema_problems(parameters: Parameters) -> list[str]:
    return schema_problems(parameters) if parameters.get("schema") else []


def shortened(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARS else text[: MESSAGE_CHARS - 1] + "…"


def schema_problems(parameters: Parameters) -> list[str]:
    try:
        schema = _schema(parameters)
    except (ValueError, TypeError, RecursionError) as error:
        return [f"The schema is not valid JSON: {error}."]
    if not isinstance(schema, dict):
        return ["A schema is a JSON object."]
    try:
        _validator(schema).check_schema(schema)
    except SchemaError as error:
        return [f"The schema is not valid at {shortened(error.json_path)}: {shortened(error.message)}."]
    except RecursionError:
        return ["The schema is nested too deeply."]
    return [problem for part in _parts(schema) for problem in _part_problems(schema, part)]


def _schema(parameters: Parameters) -> Any:
    """The schema as plain data. Forms provide it as text."""
    schema = parameters["schema"]
    return json.loads(schema if isinstance(schema, str) else json.dumps(schema, default=dict))


def _validator(schema: dict[str, Any]) -> Validator:
    """A validator without remote references and with a time limit on patterns."""
    base = validator_for(schema, default=Draft202012Validator)
    bounded: type[Validator] = extend(base, {"pattern": _bounded_pattern})  # type: ignore[no-untyped-call]
    return bounded(schema, registry=Registry())


def _bounded_pattern(
    validator: Validator, pattern: str, instance: object, schema: object
) -> Iterator[ValidationError]:
    if isinstance(instance, str) and first_match(pattern, instance) is None:
        yield ValidationError(f"{quoted(instance)} does not match the pattern {quoted(pattern)}")


def _parts(schema: object) -> Iterator[Mapping[str, object]]:
    """The schema and every object inside it."""
    if isinstance(schema, Mapping):
        yield schema
        for value in schema.values():
            yield from _parts(value)
    elif isinstance(schema, (list, tuple)):
        for value in schema:
            yield from _parts(value)


def _part_problems(whole: dict[str, Any], part: Mapping[str, object]) -> Iterator[str]:
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        target = part.get(keyword)
        if isinstance(target, str) and not target.startswith("#"):
            yield f"{keyword} {quoted(target)} points outside the schema, and nothing is fetched."
        elif isinstance(target, str) and not _resolves(whole, target):
            yield f"{keyword} {quoted(target)} points to nothing in the schema."
    if isinstance(part.get("patternProperties"), Mapping):
        yield "patternProperties is not available; name the properties, or use propertyNames with a pattern."
    pattern = part.get("pattern")
    if isinstance(pattern, str):
        yield from pattern_problems("The pattern", pattern)


def _resolves(whole: dict[str, Any], target: str) -> bool:
    resource = DRAFT202012.create_resource(whole)
    try:
        Registry().with_resource("", resource).resolver("").lookup(target)
    except Unresolvable:
        return False
    return True


KINDS = (
    CheckKind(
        "is-json",
        "Is JSON",
        "The text is one JSON document, alone or in a code fence.",
        (NEGATE,),
        negatable(run_is_json, lambda parameters: "The text is JSON"),
    ),
    CheckKind(
        "contains-json",
        "Contains JSON",
        "A JSON object or list must occur in the text.",
        (
            Parameter("schema", "Schema", ParameterType.JSON, description="It must follow this schema."),
            NEGATE,
        ),
        negatable(run_contains_json, lambda parameters: "The text contains such JSON"),
        optional_schema_problems,
    ),
    CheckKind(
        "equals-json",
        "Equals JSON",
        "The text must be this JSON, in any order and spacing.",
        (Parameter("value", "Value", ParameterType.TEXT, required=True), NEGATE),
        negatable(run_equals_json, lambda parameters: "The text is this JSON"),
        value_problems,
    ),
    CheckKind(
        "json-schema",
        "JSON schema",
        "The text is JSON that follows a schema.",
        (
            Parameter(
                "schema",
                "Schema",
                ParameterType.JSON,
                required=True,
                description="JSON Schema, draft 2020-12 unless it names another. Nothing is fetched.",
            ),
            NEGATE,
        ),
        negatable(run_json_schema, lambda parameters: "The JSON follows the schema"),
        schema_problems,
    ),
)
