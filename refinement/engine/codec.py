"""Converts rubrics to JSON and back without loss. Runs store their rubric in this format."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from refinement.engine.profiles import with_followed_preset
from refinement.engine.types import Rubric

_RUBRIC: TypeAdapter[Rubric] = TypeAdapter(Rubric)


class BadRubric(ValueError):
    """The data is not a valid rubric. The message names the field and the problem."""


def rubric_to_json(rubric: Rubric) -> dict[str, Any]:
    """The rubric as JSON values. Decimals become strings and sets become sorted lists."""
    data: dict[str, Any] = _RUBRIC.dump_python(rubric, mode="json")
    data["context"] = {role: sorted(kinds) for role, kinds in data["context"].items()}
    return data


def rubric_from_json(data: Mapping[str, Any]) -> Rubric:
    """The rubric stored in the JSON. Raises BadRubric for the first invalid field."""
    try:
        return _RUBRIC.validate_python(dict(data))
    except ValidationError as error:
        raise BadRubric(first_problem(error)) from None


def rubric_with(rubric: Rubric, settings: Mapping[str, str]) -> Rubric:
    """The rubric with settings changed by dotted path, such as `policy.budget.calls` to `8`.

    An empty value clears a text, and a setting that may be missing. Raises BadRubric for an unknown path
    or an invalid value.
    """
    data = rubric_to_json(rubric)
    for path, value in settings.items():
        *parents, leaf = path.split(".")
        place: Any = data
        for name in parents:
            place = place.get(name) if isinstance(place, dict) else None
        if not isinstance(place, dict) or leaf not in place:
            raise BadRubric(f"unknown setting {path!r}")
        place[leaf] = value if is_text(path) else typed(place[leaf], value)
    return with_followed_preset(rubric, rubric_from_json(data))


def is_text(path: str) -> bool:
    """Whether the setting is a text that is never None, such as `judges.clerk`."""
    kind: Any = Rubric
    for name in path.split("."):
        kind = get_type_hints(kind).get(name) if is_dataclass(kind) else None
    return kind is str


def typed(current: object, value: str) -> object:
    """The value for a setting: a comma-separated list for lists, None for `none`, `null` or empty text."""
    if isinstance(current, list):
        return [part.strip() for part in value.split(",") if part.strip()]
    return None if value.lower() in ("none", "null", "") else value


def first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    path = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    return f"{path}: {message}" if path else message
