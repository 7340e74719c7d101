"""Checks on what code makes of the text, as promptfoo's `transform`. No form offers them: evals make them.

The parameters are `steps` (records with `code` and maybe `function`, each given what the one before made),
`context` for the code, and `kind` and `parameters` of the check on the outcome.
"""

import json
from collections.abc import Mapping
from typing import Any

from refinement.engine.types import Check
from refinement.judging.checks.javascript import CODE_CHARS, answer_of
from refinement.judging.checks.kinds import Broken

TRANSFORMED = "transformed"
MOST_STEPS = 5


def inner_of(check: Check) -> Check:
    """The check on the outcome."""
    parameters = check.parameters.get("parameters")
    return Check(
        check.key,
        str(check.parameters.get("kind") or ""),
        parameters if isinstance(parameters, Mapping) else {},
        check.severity,
        check.weight,
        check.suggestion,
    )


def step_problems(check: Check) -> list[str]:
    """The errors of the code itself, as sentences."""
    steps = check.parameters.get("steps")
    if not isinstance(steps, list | tuple) or not 0 < len(steps) <= MOST_STEPS:
        return [f"A transform has 1 to {MOST_STEPS} steps."]
    if not all(isinstance(step, Mapping) and isinstance(step.get("code"), str) for step in steps):
        return ["Each step of a transform needs its code."]
    if any(len(step["code"]) > CODE_CHARS for step in steps):
        return [f"The code has more than {CODE_CHARS:,} characters."]
    return [] if inner_of(check).kind != TRANSFORMED else ["A transform cannot contain another."]


def outcome_of(parameters: Mapping[str, Any], candidate: str) -> object:
    """What the steps make of the text, as JSON data. Raises Broken. Only for the child process."""
    value: object = candidate
    for step in parameters["steps"]:
        value = answer_of({**step, "context": parameters.get("context")}, value)
        if value is None:
            raise Broken("the transform returned nothing.")
    return value


def as_text(value: object) -> str:
    """What checks on text see: data as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
