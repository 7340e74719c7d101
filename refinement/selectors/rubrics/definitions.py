"""Rubric versions as engine definitions."""

from decimal import Decimal
from typing import Any

from refinement.engine import types as engine
from refinement.engine.codec import rubric_from_json
from refinement.models import Project, RubricVersion


class RubricNotFound(LookupError):
    """The rubric or version does not exist; the message lists what does."""


def definition_of(version: RubricVersion) -> engine.Rubric:
    """The engine definition of a version."""
    return rubric_from_json(
        {
            "name": version.name,
            "profile": version.profile,
            "purpose": version.purpose,
            "artifact_type": version.artifact_type,
            "problem_class": version.problem_class,
            "evaluation_mode": version.evaluation_mode,
            "evaluator": version.evaluator or {},
            "scale": {
                "minimum": plain(version.scale_minimum),
                "maximum": plain(version.scale_maximum),
                "step": None if version.scale_step is None else plain(version.scale_step),
            },
            "policy": version.policy,
            "context": version.context,
            "judges": version.judges,
            "background": version.background,
            "output_contract": version.output_contract,
            "output_schema": version.output_schema,
            "output_pattern": version.output_pattern,
            "search_space": version.search_space,
            "templates": version.templates,
            "calibration_text": version.calibration_text,
            "calibration_scores": version.calibration_scores,
            "criteria": [criterion_values(row) for row in version.criteria.all()],
            "checks": [check_values(row) for row in version.checks.all()],
        }
    )


def criterion_values(row: Any) -> dict[str, object]:
    return {
        "key": row.key,
        "name": row.name,
        "description": row.description,
        "ideal": row.ideal,
        "weight": plain(row.weight),
        "primary": row.primary,
    }


def check_values(row: Any) -> dict[str, object]:
    return {
        "key": row.key,
        "kind": row.kind,
        "parameters": row.parameters,
        "severity": row.severity,
        "weight": plain(row.weight),
        "suggestion": row.suggestion,
    }


def plain(value: Decimal) -> str:
    """Without the trailing zeros of fixed-point columns: 0.25, not 0.2500."""
    return f"{value.normalize():f}"


def version_named(project: Project, reference: str) -> RubricVersion:
    """The version that `slug` (the newest) or `slug@3` names in this project."""
    slug, _, number = reference.partition("@")
    versions = RubricVersion.objects.filter(rubric__project=project, rubric__slug=slug)
    newest = versions.select_related("rubric").order_by("-number").first()
    if newest is None:
        known = ", ".join(project.rubrics.order_by("slug").values_list("slug", flat=True))
        raise RubricNotFound(f"there is no rubric {slug!r} in project {project.slug}; available: {known}.")
    if not number:
        return newest
    wanted = number.removeprefix("v")
    found = versions.filter(number=int(wanted)).first() if wanted.isascii() and wanted.isdigit() else None
    if found is None:
        raise RubricNotFound(f"rubric {slug!r} has no version {number!r}; the newest is {newest.number}.")
    return found
