"""The list of problems at the top of the editor."""

from collections.abc import Mapping
from typing import Any

from refinement.forms.rubrics.settings import SETTINGS
from refinement.selectors.rubrics.words import TEMPLATE_LABELS

PARTS = ("key", "name", "description", "ideal", "weight", "severity", "suggestion", "value", "lens", "model")
PART_LABELS = {"ideal": "top of the scale", "value": "pattern or pointer"}
_LABELS = {setting.name: setting.label for setting in SETTINGS} | {
    "criteria": "Criteria",
    "checks": "Checks",
    "metrics": "Metrics",
    "panel": "Judges",
    "note": "Note",
    "rubric-editor": "This rubric",
}


def summary(
    errors: Mapping[str, list[str]], sections: Mapping[str, list[dict[str, Any]]]
) -> list[tuple[str, str, str]]:
    """Every problem as (field, label, message), for the summary at the top."""
    if not errors:
        return []
    labels = dict(_LABELS)
    for noun, rows in sections.items():
        for row in rows:
            title = (row.get("name") or row.get("key") or "").strip()
            shown = f"{noun} {row['place']}" + (f" ({title[:40]})" if title else "")
            for part in PARTS:
                labels[f"{row['id']}-{part}"] = f"{shown}, {PART_LABELS.get(part, part)}"
            for box in row.get("boxes", ()):
                labels[box.name] = f"{shown}, {box.label.lower()}"
    labels |= {f"template-{name}": label for name, label in TEMPLATE_LABELS.items()}
    return [(name, labels.get(name, "This rubric"), message) for name in errors for message in errors[name]]
