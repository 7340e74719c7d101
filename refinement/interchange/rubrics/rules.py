"""Checks the parts of a rubric file against each other."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from refinement.engine.kinds import Handover
from refinement.engine.rubrics import Evaluator, Policy, Scale
from refinement.interchange.imports.fields import brief
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Problem


def consistency_problems(root: Fields, values: Mapping[str, Any]) -> list[Problem]:
    """The contradictions between the parts that could be read."""
    return [
        *_duplicates(root, "criteria", "criterion"),
        *_duplicates(root, "checks", "check"),
        *_primaries(root, values),
        *_emptiness(root, values),
        *_limits(root, values),
        *_penalties(root, values),
        *_evaluator(root, values),
        *_calibration(root, values),
    ]


def _line(root: Fields, *path: str) -> int:
    """The line of a nested key, or of its nearest existing parent."""
    line, place = root.line, root
    for key in path:
        if key not in place.lines:
            break
        line, inner = place.lines[key], place.values[key]
        if not isinstance(inner, Fields):
            break
        place = inner
    return line


def _entries(root: Fields, key: str) -> list[Node]:
    node = root.values.get(key)
    return node.values if isinstance(node, Items) else []


def _duplicates(root: Fields, name: str, label: str) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for entry in _entries(root, name):
        key = entry.values.get("key") if isinstance(entry, Fields) else None
        text = getattr(key, "text", None)
        if key is None or text is None:
            continue
        if text in seen:
            message = f"The {label} key {brief(text)} is already used on line {seen[text]}."
            yield Problem(key.line, message)
        seen.setdefault(text, key.line)


def _primaries(root: Fields, values: Mapping[str, Any]) -> Iterator[Problem]:
    if sum(criterion.primary for criterion in values.get("criteria", ())) < 2:
        return
    entries = [entry for entry in _entries(root, "criteria") if isinstance(entry, Fields)]
    marked = [entry.lines["primary"] for entry in entries if _is_true(entry.values.get("primary"))]
    for line in marked[1:]:
        yield Problem(line, "Only one criterion can be primary.")


def _is_true(node: Node | None) -> bool:
    return str(getattr(node, "text", "")).lower() == "true"


def _emptiness(root: Fields, values: Mapping[str, Any]) -> Iterator[Problem]:
    if _entries(root, "criteria"):
        return
    policy: Policy | None = values.get("policy")
    if not _entries(root, "checks"):
        yield Problem(_line(root, "criteria"), "A rubric needs at least one criterion or one check.")
    elif policy is not None and not policy.checks_in_composite:
        yield Problem(
            _line(root, "policy", "checks_in_composite"),
            "Without criteria, checks_in_composite must be true.",
        )


def _limits(root: Fields, values: Mapping[str, Any]) -> Iterator[Problem]:
    scale: Scale | None = values.get("scale")
    policy: Policy | None = values.get("policy")
    if scale is None or policy is None:
        return
    for name in ("pass_threshold", "perfect_score"):
        limit: Decimal | None = getattr(policy, name)
        if limit is not None and not scale.minimum <= limit <= scale.maximum:
            yield Problem(
                _line(root, "policy", name),
                f"{name} is {limit}, outside the scale of {scale.minimum} to {scale.maximum}.",
            )


def _penalties(root: Fields, values: Mapping[str, Any]) -> Iterator[Problem]:
    policy: Policy | None = values.get("policy")
    key = policy.penalties.criterion if policy else None
    if key is not None and "criteria" in values and key not in _keys(root):
        message = f"Penalties apply to {brief(key)}, which is not the key of a criterion."
        yield Problem(_line(root, "policy", "penalties", "criterion"), message)


def _evaluator(root: Fields, values: Mapping[str, Any]) -> Iterator[Problem]:
    evaluator: Evaluator = values.get("evaluator") or Evaluator()
    if evaluator.command and evaluator.handover is Handover.FILE and not evaluator.names_file:
        message = "The command needs {file} in one of its parts, for the file with the text."
        yield Problem(_line(root, "evaluator", "command"), message)


def _keys(root: Fields) -> list[str]:
    entries = [entry.values.get("key") for entry in _entries(root, "criteria") if isinstance(entry, Fields)]
    return [str(getattr(key, "text", "")) for key in entries]


def _calibration(root: Fields, values: Mapping[str, Any]) -> Iterator[Problem]:
    example, scale = values.get("calibration"), values.get("scale")
    if example is None:
        return
    if not example.scores:
        yield Problem(_line(root, "calibration", "scores"), "A calibration example needs a score.")
    for key, score in example.scores.items():
        line = _line(root, "calibration", "scores", key)
        if key not in _keys(root):
            message = f"The calibration example has a score for {brief(key)}, which is not a criterion's key."
            yield Problem(line, message)
        elif scale is not None and not scale.admits(score):
            yield Problem(line, f"The score {score} of {brief(key)} is not on the scale.")
