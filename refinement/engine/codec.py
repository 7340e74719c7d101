"""Rubrics as JSON and back, exactly: what a run keeps of its rubric must be readable years later."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from refinement.engine.types import Rubric

_RUBRIC: TypeAdapter[Rubric] = TypeAdapter(Rubric)


class BadRubric(ValueError):
    """Names the field and what is wrong with it."""


def rubric_to_json(rubric: Rubric) -> dict[str, Any]:
    """Plain JSON values; numbers that are compared become strings, sets become sorted lists."""
    data: dict[str, Any] = _RUBRIC.dump_python(rubric, mode="json")
    data["context"] = {role: sorted(kinds) for role, kinds in data["context"].items()}
    return data


def rubric_from_json(data: Mapping[str, Any]) -> Rubric:
    """The rubric that the JSON says; BadRubric names the first field that does not fit."""
    try:
        return _RUBRIC.validate_python(dict(data))
    except ValidationError as error:
        raise BadRubric(first_problem(error)) from None


def rubric_with(rubric: Rubric, settings: Mapping[str, str]) -> Rubric:
    """The rubric with fields changed by dotted path, such as `policy.budget.calls` to `8`."""
    data = rubric_to_json(rubric)
    for path, value in settings.items():
        *parents, leaf = path.split(".")
        place: Any = data
        for name in parents:
            place = place.get(name) if isinstance(place, dict) else None
        if not isinstance(place, dict) or leaf not in place:
            raise BadRubric(f"there is no setting named {path!r}")
        place[leaf] = typed(place[leaf], value)
    return rubric_from_json(data)


def typed(current: object, value: str) -> object:
    """The text as a list where the setting is one, as nothing where it says none."""
    if isinstance(current, list):
        return [part.strip() for part in value.split(",") if part.strip()]
    return None if value.lower() in ("none", "null", "") else value


def first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    # Unions report each member they tried; the path people know is the one of named fields.
    path = ".".join(str(part) for part in problem["loc"])
    said = problem["msg"].removeprefix("Value error, ")
    return f"{path}: {said}" if path else said
