"""The editor's fields as plain values for templates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from refinement.engine.artifacts import ARTIFACT_TYPES
from refinement.engine.codec import rubric_to_json
from refinement.engine.panels import MOST_JUDGES, USUAL_JUDGES
from refinement.engine.types import STOP_RULES, Composite, Information, JudgeMode, OnPlateau, Role, Rubric
from refinement.forms.rubrics import words
from refinement.forms.rubrics.initial import (
    PRESET,
    Fields,
    check_fields,
    criterion_fields,
    form_fields,
    metric_fields,
)
from refinement.forms.rubrics.judges import (
    PANEL_TYPE,
    gallery_panels,
    model_names,
    model_warning,
    panels_for_script,
)
from refinement.forms.rubrics.kinds import Kind, Setting
from refinement.forms.rubrics.outputs import FOUND_BY
from refinement.forms.rubrics.presets import preset_for, presets_by_cell
from refinement.forms.rubrics.problems import summary
from refinement.forms.rubrics.rows import next_number, place_of, row_numbers
from refinement.forms.rubrics.settings import CLERK, SETTINGS
from refinement.forms.rubrics.topics import topics
from refinement.forms.rubrics.weights import shares_of, usual_of
from refinement.forms.rubrics.words import distinct_rules
from refinement.judging.checks import KINDS, ParameterType
from refinement.judging.templating import TEMPLATE_NAMES, default_source
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.rubrics.context_tables import KIND_LABELS, OFFERED_KINDS, departure_sentence
from refinement.selectors.rubrics.judge_words import JUDGE_MODES, price_words
from refinement.selectors.rubrics.words import TEMPLATE_LABELS, rule_name

Errors = Mapping[str, list[str]]
PROTOTYPE = "__n__"  # row number of the prototype that script copies
COLOURS = 6  # series of the charts
CRITERION_PARTS = ("key", "name", "description", "ideal", "weight", "order", "was")
JUDGE_PARTS = ("name", "lens", "model", "order")
METRIC_PARTS = ("name", "by", "value", "lower", "order")
CHECK_PARTS = ("key", "kind", "severity", "weight", "suggestion", "order", "was")


@dataclass(frozen=True, slots=True)
class Box:
    """A field with its label, value and errors."""

    name: str
    label: str
    kind: str
    value: str
    help: str = ""
    required: bool = True
    choices: tuple[tuple[str, str], ...] = ()
    rows: int = 1
    suggestions: str = ""
    errors: tuple[str, ...] = ()
    warning: str = ""

    @property
    def described_by(self) -> str:
        parts = ((self.help, "help"), (self.warning, "warning"), (self.errors, "error"))
        return " ".join(f"{self.name}-{part}" for there, part in parts if there)


def page_values(
    fields: Fields, errors: Errors, base: Rubric, shown: Rubric, offers: Sequence[Offer] = ()
) -> dict[str, Any]:
    """The editor template's context for the fields.

    `base` is the edited version and `shown` what the fields say, or the version if they are not valid.
    `offers` are the models that are available now.
    """
    criteria = criterion_rows(fields, errors)
    checks = check_rows(fields, errors)
    metrics = metric_rows(fields, errors)
    judges = judge_rows(fields, errors, offers)
    seen = context_rows(fields, base.profile)
    return {
        "fields": fields,
        "errors": errors,
        "summary": summary(
            errors, {"Criterion": criteria, "Check": checks, "Metric": metrics, "Judge": judges}
        ),
        "boxes": {setting.name.replace("-", "_"): _box(setting, fields, errors) for setting in SETTINGS},
        "topics": topics(shown, errors),
        "changed_topics": sum(bool(topic.changed) for topic in topics(shown, errors).values()),
        "original": form_fields(rubric_to_json(base)),
        "criteria": criteria,
        "share_bar": share_bar(criteria, fields),
        "plain_mean": fields.get("policy-composite") == Composite.PLAIN_MEAN,
        "checks": checks,
        "kinds": KINDS.values(),
        "metrics": metrics,
        "found_by": tuple(FOUND_BY.items()),
        **judge_values(fields, errors, judges, offers),
        "stop_rules": stop_rows(fields),
        "roles": [(role, *labels) for role, labels in words.ROLES.items()],
        "context_rows": seen,
        "departures": departures(seen),
        "preset": fields.get(PRESET, "") or preset_for(fields),
        "templates": template_rows(fields, errors, base.profile),
        "artifact_types": ARTIFACT_TYPES,
        "base": base,
        "top": fields.get("scale-maximum", ""),
        "bottom": fields.get("scale-minimum", ""),
        "try_text": fields.get("try-text", ""),
        "add_kind": fields.get("add-kind", ""),
    }


def _box(setting: Setting, fields: Fields, errors: Errors) -> Box:
    return Box(
        setting.name,
        setting.label,
        _BOX_KINDS.get(setting.kind, str(setting.kind)),
        fields.get(setting.name, ""),
        setting.help,
        setting.required,
        _CHOICES[setting.name],
        setting.rows,
        setting.suggestions,
        tuple(errors.get(setting.name, ())),
    )


_BOX_KINDS = {
    Kind.WORDS: "text",
    Kind.COMMAND: "code",
    Kind.LINES: "code",
    Kind.PATTERN: "code",
    Kind.SCHEMA: "code",
}
_CHOICES = {
    setting.name: tuple((str(choice), label) for choice, label in (setting.choices or {}).items())
    for setting in SETTINGS
}


def criterion_rows(fields: Fields, errors: Errors) -> list[dict[str, Any]]:
    numbers = row_numbers(fields, "criterion")
    return [
        _row("criterion", number, CRITERION_PARTS, fields, errors)
        | {
            "place": place,
            "colour": (place - 1) % COLOURS + 1,
            "primary": fields.get("primary") == number,
            "docked": fields.get("docked") == number,
        }
        for place, number in enumerate(numbers, start=1)
    ]


def share_bar(criteria: list[dict[str, Any]], fields: Fields) -> list[dict[str, Any]]:
    """The criteria's shares of the score as parts of a bar, from 0 to 100, and set in their rows."""
    equal = fields.get("policy-composite") == Composite.PLAIN_MEAN
    start, parts = Decimal(0), []
    for row, share in zip(
        criteria, shares_of("1" if equal else row["weight"] for row in criteria), strict=True
    ):
        row["share"] = "" if share is None else f"{share:.0f} %"
        parts.append({"start": f"{start:.2f}", "width": f"{share or 0:.2f}", "colour": row["colour"]})
        start += share or 0
    return parts


def check_rows(fields: Fields, errors: Errors) -> list[dict[str, Any]]:
    rows = []
    for place, number in enumerate(row_numbers(fields, "check"), start=1):
        row = _row("check", number, CHECK_PARTS, fields, errors)
        kind = KINDS.get(row["kind"])
        boxes = parameter_boxes(row, fields, errors)
        faulty = row["errors"] or any(box.errors for box in boxes) or not row["was"]
        rows.append(row | {"place": place, "about": kind, "boxes": boxes, "open": bool(faulty)})
    return rows


def metric_rows(fields: Fields, errors: Errors) -> list[dict[str, Any]]:
    return [
        _row("metric", number, METRIC_PARTS, fields, errors) | {"place": place}
        for place, number in enumerate(row_numbers(fields, "metric"), start=1)
    ]


def judge_rows(fields: Fields, errors: Errors, offers: Sequence[Offer]) -> list[dict[str, Any]]:
    rows = [
        _row("judge", number, JUDGE_PARTS, fields, errors) | {"place": place}
        for place, number in enumerate(row_numbers(fields, "judge"), start=1)
    ]
    return [row | {"warning": model_warning(row["model"], offers)} for row in rows]


def judge_values(
    fields: Fields, errors: Errors, rows: list[dict[str, Any]], offers: Sequence[Offer]
) -> dict[str, Any]:
    """The values of the section “Judges”."""
    mode = fields.get("judges-mode", "")
    price = price_words(
        mode,
        len(rows),
        deliberation=bool(fields.get("judges-deliberation")),
        escalates=fields.get("policy-on_plateau") != OnPlateau.STOP,
    )
    clerk = _box(CLERK, fields, errors)
    return {
        "judges": rows,
        "panel_open": mode == JudgeMode.BOARD or any(row["errors"] for row in rows) or "panel" in errors,
        "clerk_box": replace(clerk, warning=model_warning(clerk.value, offers)),
        "judge_modes": [(key, *labels, key == mode) for key, labels in JUDGE_MODES.items()],
        "price": price,
        "panels": gallery_panels(fields.get("artifact_type", ""), fields.get(PANEL_TYPE, "")),
        "panel_data": panels_for_script(),
        "known_models": model_names(offers),
        "most_judges": MOST_JUDGES,
        "usual_judges": USUAL_JUDGES,
    }


def _row(noun: str, number: str, parts: Iterable[str], fields: Fields, errors: Errors) -> dict[str, Any]:
    start = f"{noun}-{number}"
    row: dict[str, Any] = {part: fields.get(f"{start}-{part}", "") for part in parts}
    row["errors"] = {part: errors[f"{start}-{part}"] for part in parts if f"{start}-{part}" in errors}
    row["number"], row["id"] = number, start
    return row


def parameter_boxes(row: Mapping[str, Any], fields: Fields, errors: Errors) -> list[Box]:
    """A field for each parameter of the check's kind."""
    kind = KINDS.get(row["kind"])
    boxes = []
    for parameter in kind.parameters if kind else ():
        name = f"{row['id']}-p-{parameter.name}"
        boxes.append(
            Box(
                name,
                parameter.label,
                _PARAMETER_KINDS[parameter.type],
                fields.get(name, ""),
                parameter.description,
                parameter.required,
                tuple((choice, choice) for choice in parameter.choices),
                6 if parameter.type is ParameterType.JSON else 1,
                errors=tuple(errors.get(name, ())),
            )
        )
    return boxes


_PARAMETER_KINDS = {
    ParameterType.TEXT: "code",
    ParameterType.FLAG: "flag",
    ParameterType.COUNT: "whole",
    ParameterType.CHOICE: "choice",
    ParameterType.LINES: "code",
    ParameterType.JSON: "code",
}


def prototypes() -> dict[str, Any]:
    """An empty criterion and an empty check of each kind, for script to copy."""
    criterion = _row("criterion", PROTOTYPE, CRITERION_PARTS, {}, {}) | {"weight": "1", "place": PROTOTYPE}
    checks = []
    for kind in KINDS.values():
        fields = {
            name.replace("check-0-", f"check-{PROTOTYPE}-"): value
            for name, value in check_fields(0, empty_check(kind.name)).items()
        }
        row = _row("check", PROTOTYPE, CHECK_PARTS, fields, {})
        boxes = parameter_boxes(row, fields, {})
        checks.append(row | {"place": PROTOTYPE, "about": kind, "boxes": boxes, "open": True})
    metric = _row("metric", PROTOTYPE, METRIC_PARTS, {}, {}) | {"place": PROTOTYPE}
    judge = _row("judge", PROTOTYPE, JUDGE_PARTS, {}, {}) | {"place": PROTOTYPE}
    return {"criterion": criterion, "checks": checks, "metric": metric, "judge": judge}


def empty_check(kind: str) -> dict[str, Any]:
    return {"key": "", "kind": kind, "parameters": {}, "severity": "error", "weight": "1", "suggestion": ""}


def empty_criterion() -> dict[str, Any]:
    return {"key": "", "name": "", "description": "", "ideal": "", "weight": "1"}


def with_criterion(fields: Fields) -> Fields:
    """The fields with an empty criterion added."""
    weight = usual_of(row["weight"] for row in criterion_rows(fields, {}))
    return fields | criterion_fields(next_number(fields, "criterion"), empty_criterion() | {"weight": weight})


def with_check(fields: Fields, kind: str) -> Fields:
    """The fields with a check of this kind added."""
    return fields | check_fields(next_number(fields, "check"), empty_check(kind)) if kind in KINDS else fields


def with_metric(fields: Fields) -> Fields:
    """The fields with an empty metric added."""
    return fields | metric_fields(next_number(fields, "metric"), {"name": ""})


def stop_rows(fields: Fields) -> list[dict[str, Any]]:
    def place(rule: str) -> Decimal:
        return place_of(fields.get(f"stop-{rule}-order", ""))

    offered = (rule for rule in STOP_RULES if f"stop-{rule}-order" in fields or f"stop-{rule}-on" in fields)
    rules = distinct_rules(sorted(offered, key=place))
    return [
        {
            "rule": rule.value,
            "id": f"stop-{rule}",
            "label": rule_name(rule),
            "help": words.stop_rule_help(rule),
            "on": bool(fields.get(f"stop-{rule}-on")),
            "place": place_now,
        }
        for place_now, rule in enumerate(rules, start=1)
    ]


def context_rows(fields: Fields, profile: str) -> list[dict[str, Any]]:
    """The visibility table: a row per kind of information, a cell per role."""
    presets, applies = presets_by_cell(profile), preset_for(fields)
    return [
        {
            "label": KIND_LABELS[kind][0],
            "help": KIND_LABELS[kind][1],
            "cells": [
                _cell(
                    role, kind, bool(fields.get(f"context-{role}-{kind}")), presets.get((role, kind)), applies
                )
                for role in words.ROLES
            ],
        }
        for kind in OFFERED_KINDS
    ]


def _cell(role: Role, kind: Information, seen: bool, presets: str | None, applies: str) -> dict[str, Any]:
    """A cell; `presets` names those in which the role sees the kind, or is None if it never can."""
    return {
        "name": f"context-{role}-{kind}",
        "offered": presets is not None,
        "on": seen,
        "preset": presets or "",
        "departs": presets is not None and seen != (applies in presets.split()),
        "role": words.ROLES[role][0],
        "shown": departure_sentence(role, kind, True),
        "withheld": departure_sentence(role, kind, False),
    }


def departures(rows: list[dict[str, Any]]) -> list[str]:
    """Sentences on where the table differs from its preset."""
    cells = (cell for row in rows for cell in row["cells"])
    return [cell["shown" if cell["on"] else "withheld"] for cell in cells if cell["departs"]]


def template_rows(fields: Fields, errors: Errors, profile: str) -> list[dict[str, Any]]:
    return [
        {
            "id": f"template-{name}",
            "label": TEMPLATE_LABELS[name],
            "help": words.TEMPLATE_HELP[name],
            "value": fields.get(f"template-{name}", ""),
            "default": bool(fields.get(f"template-{name}-default")),
            "source": default_source(name, profile),
            "names": TEMPLATE_NAMES[name],
            "errors": errors.get(f"template-{name}", ()),
        }
        for name in TEMPLATE_NAMES
    ]
