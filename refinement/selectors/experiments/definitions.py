"""The rubric that a configuration's runs use: its version, the configuration's changes, a task's checks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from refinement.engine.codec import BadRubric, rubric_with
from refinement.engine.rubrics import Check
from refinement.engine.types import Rubric, Severity
from refinement.judging.sources import SourceText
from refinement.models import Configuration, RubricVersion, SuiteTask
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import definition_of

TEMPLATES = "templates."


def changes_text(changes: Mapping[str, object]) -> dict[str, str]:
    """Changes as they are stored: dotted path to text, as `engine.codec.rubric_with` takes them."""
    return {str(path).strip(): text_of(value) for path, value in changes.items()}


def text_of(value: object) -> str:
    """A value of a YAML or JSON file as the text that a form would send."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(text_of(part) for part in value)
    return str(value)


def definition_changed(version: RubricVersion, changes: Mapping[str, str]) -> Rubric:
    """The version's rubric with the changes. Raises BadRubric."""
    templates = {path: text for path, text in changes.items() if path.startswith(TEMPLATES)}
    settings = {path: text for path, text in changes.items() if path not in templates}
    used = rubric_with(definition_of(version), settings) if settings else definition_of(version)
    if not templates:
        return used
    named = {path.removeprefix(TEMPLATES): text for path, text in templates.items()}
    return replace(used, templates={**used.templates, **named})


def definition_for_task(used: Rubric, checks: Sequence[Mapping[str, Any]]) -> Rubric:
    """The rubric with a task's checks added. A key that the rubric uses already gets a number."""
    taken = {check.key for check in used.checks}
    added = []
    for values in checks:
        check = check_of(values, taken)
        taken.add(check.key)
        added.append(check)
    return replace(used, checks=(*used.checks, *added)) if added else used


def check_of(values: Mapping[str, Any], taken: set[str]) -> Check:
    """A suite's check. Raises BadRubric for values that make none."""
    key = str(values.get("key") or values.get("kind") or "check")
    free = next(name for name in (key, *(f"{key}-{n}" for n in range(2, 1_000))) if name not in taken)
    try:
        return Check(
            key=free,
            kind=str(values["kind"]),
            parameters=values.get("parameters") or {},
            severity=Severity(values.get("severity") or Severity.ERROR),
            weight=Decimal(str(values.get("weight") or 1)),
            suggestion=str(values.get("suggestion") or ""),
        )
    except (KeyError, ValueError, ArithmeticError) as problem:
        raise BadRubric(f"check {key!r} of the task is not valid: {problem}") from problem


def sources_for_task(configuration: Configuration, task: SuiteTask) -> list[SourceText]:
    """The task's sources and the configuration's. Of two with one name, the configuration's counts."""
    named = {entry["name"]: entry["text"] for entry in (*task.sources, *configuration.sources)}
    return [SourceText(name, text) for name, text in named.items()]


def producer_of(configuration: Configuration) -> Target:
    return Target(configuration.producer_endpoint, configuration.producer_model)


def judge_of(configuration: Configuration) -> Target:
    return Target(configuration.judge_endpoint, configuration.judge_model)


def clerk_of(configuration: Configuration) -> Target | None:
    """The configuration's clerk; None for the rubric's or the judge's model."""
    if not configuration.clerk_model:
        return None
    return Target(configuration.clerk_endpoint, configuration.clerk_model)
