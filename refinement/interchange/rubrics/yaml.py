"""Converts rubrics to YAML files and back. The output is deterministic and lossless."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import Enum

from refinement.engine.kinds import Information, OnPlateau
from refinement.engine.panels import Judges
from refinement.engine.rubrics import Evaluator, Metric, Policy, Rubric
from refinement.interchange.rubrics.judges import judges_fields
from refinement.interchange.rubrics.reading import FORMAT, FORMAT_VERSION, rubric_from_yaml
from refinement.interchange.rubrics.yaml_reading import MAX_BYTES, BadFile, Problem
from refinement.interchange.rubrics.yaml_writing import entry
from refinement.judging.templating import TEMPLATE_NAMES

__all__ = [
    "MAX_BYTES",
    "BadFile",
    "Problem",
    "rubric_from_fields",
    "rubric_from_yaml",
    "rubric_to_fields",
    "rubric_to_yaml",
]

HEAD = (
    "A Wiggum rubric: what the judge scores, what is checked, and when a run stops.",
    "Edit it as text, keep it in git, and import it on a project's rubrics page.",
)
# Comments above each block, for people new to the format.
REMARKS: Mapping[str, tuple[str, ...]] = {
    FORMAT: ("The version of this format.",),
    "name": ("Name, purpose, and the kind of work it judges.",),
    "evaluator": ("The command whose output is evidence for the judge. It runs without a shell.",),
    "scale": ("The scores a judge may give. With a step of null, any decimal is valid.",),
    "criteria": (
        "What the judge scores. Keys identify criteria in replies; weights apply to the composite.",
    ),
    "checks": ("Checks that need no model.",),
    "judges": (
        "Who judges: one judge, or a board whose judges score alone, answer each other and are merged.",
    ),
    "policy": ("How a run proceeds, and its stop rules in order.",),
    "context": ("The kinds of information that each role may see.",),
    "background": ("Texts for the writer and, if the context rules allow it, for the judge.",),
    "output_contract": (
        "The required form of the result, in words. By a schema or a pattern, code decides if it is met.",
    ),
    "templates": ("Custom prompt templates. Others use the default.",),
    "calibration": ("A text with known scores, shown to the judge in every round.",),
}


def rubric_to_yaml(rubric: Rubric) -> str:
    """The rubric as a YAML file with all fields."""
    lines = [f"# {line}" for line in HEAD]
    for key, value in _fields(rubric):
        if key in REMARKS:
            lines += ["", *(f"# {line}" for line in REMARKS[key])]
        lines += entry(key, value)
    return "\n".join(lines) + "\n"


def rubric_to_fields(rubric: Rubric) -> dict[str, object]:
    """The content of the YAML file as JSON values."""
    return {key: _as_json(value) for key, value in _fields(rubric)}


def _as_json(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _as_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(inner) for inner in value]
    if isinstance(value, Decimal):
        # These numbers have few digits, so a float is exact enough.
        return int(value) if value == value.to_integral_value() else float(value)
    return value.value if isinstance(value, Enum) else value


def rubric_from_fields(fields: Mapping[str, object]) -> Rubric:
    """The rubric in JSON values. Raises BadFile with lines of the values' JSON text."""
    # JSON is YAML, so the file reader does all the validation.
    return rubric_from_yaml(json.dumps(fields, indent=1, ensure_ascii=False))


def _fields(rubric: Rubric) -> Iterator[tuple[str, object]]:
    """Every key of the file in its order."""
    yield FORMAT, FORMAT_VERSION
    for name in ("name", "purpose", "profile", "artifact_type", "problem_class", "evaluation_mode"):
        yield name, getattr(rubric, name)
    yield "evaluator", _evaluator(rubric.evaluator)
    yield "scale", _named(rubric.scale, "minimum", "maximum", "step")
    criterion_names = ("key", "name", "description", "ideal", "weight", "primary")
    yield "criteria", [_named(criterion, *criterion_names) for criterion in rubric.criteria]
    check_names = ("key", "kind", "parameters", "severity", "weight", "suggestion")
    yield (
        "checks",
        [{**_named(check, *check_names), "parameters": _sorted(check.parameters)} for check in rubric.checks],
    )
    if rubric.judges != Judges():
        yield "judges", judges_fields(rubric.judges)
    yield "policy", _policy(rubric.policy)
    yield (
        "context",
        {
            role: [kind.value for kind in Information if kind in getattr(rubric.context, role)]
            for role in ("judge", "producer")
        },
    )
    for name in ("background", "search_space"):
        yield name, getattr(rubric, name)
    yield "output_contract", rubric.output_contract
    yield "output_schema", _sorted(rubric.output_schema)
    yield "output_pattern", rubric.output_pattern
    yield "templates", {name: rubric.templates[name] for name in TEMPLATE_NAMES if name in rubric.templates}
    yield "calibration", _calibration(rubric)


def _named(source: object, *names: str) -> dict[str, object]:
    return {name: getattr(source, name) for name in names}


def _sorted(value: object) -> object:
    """The value with sorted keys, because databases may not keep their order."""
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _evaluator(evaluator: Evaluator) -> dict[str, object]:
    names = ("command", "handover", "file_name", "timeout", "repeat", "validation", "failure_patterns")
    return {**_named(evaluator, *names), "metrics": [_metric(metric) for metric in evaluator.metrics]}


def _metric(metric: Metric) -> dict[str, object]:
    found_by = "pattern" if metric.pattern else "pointer"
    return _named(metric, "name", found_by, "lower_is_better")


def _policy(policy: Policy) -> dict[str, object]:
    names = (
        "max_rounds", "stop_rules", "composite", "next_base", "feedback", "pass_threshold",
        "perfect_score", "minimum_gain", "plateau_rounds", "plateau_window",
        *(["on_plateau"] if policy.on_plateau is not OnPlateau.STOP else []),
        "checks_in_composite", "primary_first", "judge_limit_chars", "source_limit_chars", "producer_tokens",
        "producer_temperature", "composite_decimals",
    )  # fmt: skip
    return {
        **_named(policy, *names),
        "penalties": _named(policy.penalties, "criterion", "points", "cap", "allowed_objects"),
        "budget": _named(policy.budget, "tokens", "seconds", "calls"),
    }


def _calibration(rubric: Rubric) -> dict[str, object] | None:
    if not rubric.calibration_text:
        return None
    keys = (criterion.key for criterion in rubric.criteria)
    scores = {key: rubric.calibration_scores[key] for key in keys if key in rubric.calibration_scores}
    return {"text": rubric.calibration_text, "scores": scores}
