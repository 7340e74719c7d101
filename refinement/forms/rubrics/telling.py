"""Labels and values of differences between two edits."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from refinement.engine.evaluating import command_line
from refinement.engine.types import Metric, Rubric
from refinement.forms.rubrics import words
from refinement.forms.rubrics.kinds import Kind
from refinement.forms.rubrics.merging import Change, Difference
from refinement.forms.rubrics.settings import SETTINGS
from refinement.selectors.rubrics.context_tables import KIND_LABELS
from refinement.selectors.rubrics.words import TEMPLATE_LABELS, metric_words, rule_name, schema_words

NOUNS = {"criteria": "Criterion", "checks": "Check", "panel": "Judge"}
ROW_LABELS = {
    "name": "name",
    "lens": "lens",
    "model": "model",
    "description": "description",
    "ideal": "top of the scale",
    "weight": "weight",
    "kind": "kind",
    "parameters": "settings",
    "severity": "severity",
    "suggestion": "suggestion",
}
_SETTINGS = {setting.path: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class ShownDifference:
    """A difference as displayed."""

    name: str
    label: str
    original: str
    mine: str
    theirs: str
    change: Change


def shown_difference(entry: Difference, mine: Rubric, theirs: Rubric) -> ShownDifference:
    """The difference as text; keys are shown by name."""
    names = {
        "criteria": {row.key: row.name for row in (*theirs.criteria, *mine.criteria)},
        "checks": {row.key: row.key for row in (*theirs.checks, *mine.checks)},
        "panel": {},
    }
    original, mine_said, theirs_said = (
        _shown(entry, value, names["criteria"]) for value in (entry.original, entry.mine, entry.theirs)
    )
    label = _label(entry.path, names)
    return ShownDifference(entry.name, label, original, mine_said, theirs_said, entry.change)


def _label(path: tuple[str, ...], names: Mapping[str, Mapping[str, str]]) -> str:
    if path in _SETTINGS:
        return _SETTINGS[path].label
    match path:
        case ("criteria" | "checks" | "panel" as rows, ""):
            return f"Order of the {'judges' if rows == 'panel' else rows}"
        case ("criteria" | "checks" | "panel" as rows, key, *field):
            name = f"{NOUNS[rows]} “{names[rows].get(key, key)}”"
            return f"{name}: {ROW_LABELS.get(field[0], field[0])}" if field else name
        case ("context", role, kind):
            return f"{words.ROLES[role][0]} sees: {KIND_LABELS[kind][0].lower()}"  # type: ignore[index]
        case ("templates", name):
            return TEMPLATE_LABELS.get(name, f"Template {name}")
        case ("primary",):
            return "Primary criterion"
        case ("policy", "stop_rules"):
            return "Stop rules"
        case ("evaluator", "metrics"):
            return "Metrics"
        case ("policy", "penalties", "criterion"):
            return "Penalty for invented names on"
    return " ".join(path).replace("_", " ")


def _shown(entry: Difference, value: Any, names: Mapping[str, str]) -> str:
    match entry.path:
        case ("criteria" | "checks" | "panel", key) if key and value is None:
            return "Empty"
        case ("templates", _) if value is None:
            return "Default"
        case ("primary",) | ("policy", "penalties", "criterion"):
            return names.get(value, value) if value else "None"
        case ("policy", "stop_rules"):
            return "\n".join(f"{n}. {rule_name(rule)}" for n, rule in enumerate(value or [], 1))
        case ("criteria" | "panel", ""):
            return "\n".join(f"{n}. {names.get(key, key)}" for n, key in enumerate(value or [], 1))
        case ("evaluator", "metrics"):
            return "\n".join(metric_words(Metric(**metric)) for metric in value or []) or "None"
        case ("output_schema",):
            return schema_words(value or {}) or "Empty"
    setting = _SETTINGS.get(entry.path)
    if setting is not None and setting.choices and value in setting.choices:
        return setting.choices[value]
    if setting is not None and setting.kind is Kind.COMMAND and value:
        return command_line(value)
    return _plain(value)


def _plain(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "Empty"
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, list):
        return "\n".join(str(entry) for entry in value)
    if isinstance(value, dict):
        return "\n".join(
            f"{ROW_LABELS.get(name, name)}: {entry if isinstance(entry, str) else json.dumps(entry)}"
            for name, entry in value.items()
            if entry not in ("", None)
        )
    return str(value)
