"""A definition as editor fields, exactly as a browser sends them back unchanged."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from refinement.engine.evaluating import command_line
from refinement.engine.types import EvaluationMode, Role
from refinement.forms.rubrics.kinds import Kind, Setting
from refinement.forms.rubrics.settings import SETTINGS
from refinement.forms.rubrics.weights import shown_weight, unit_of
from refinement.forms.rubrics.words import STOP_RULES as STOP_RULE_WORDS
from refinement.forms.rubrics.words import TWINS, distinct_rules
from refinement.judging.checks import KINDS, Parameter, ParameterType
from refinement.judging.checks.kinds import with_defaults
from refinement.judging.context import OFFERED
from refinement.judging.templating import TEMPLATE_NAMES
from refinement.selectors.rubrics.words import check_name, schema_words

Fields = dict[str, str]
ON = "on"
PRESET, PLAIN, EVALUATED = "preset", "plain", "evaluator"  # which preset the visibility table was shown with


def form_fields(
    values: Mapping[str, Any], renamed: Mapping[str, str] | None = None, unit: Decimal | None = None
) -> Fields:
    """The fields of a JSON definition.

    `renamed` has the earlier keys of criteria. `unit` is what weights are counted in, by default the largest
    that makes these weights whole numbers.
    """
    fields: Fields = {}
    for setting in SETTINGS:
        fields.update(_setting_field(setting, values))
    unit = unit or unit_of(Decimal(criterion["weight"]) for criterion in values["criteria"])
    for number, criterion in enumerate(values["criteria"]):
        shown = {**criterion, "weight": shown_weight(Decimal(criterion["weight"]), unit)}
        fields.update(criterion_fields(number, shown, (renamed or {}).get(criterion["key"])))
        if criterion["primary"]:
            fields["primary"] = str(number)
        if criterion["key"] == values["policy"]["penalties"]["criterion"]:
            fields["docked"] = str(number)
    for number, check in enumerate(values["checks"]):
        fields.update(check_fields(number, check))
    for number, metric in enumerate(values["evaluator"]["metrics"]):
        fields.update(metric_fields(number, metric))
    for number, judge in enumerate(values["judges"]["panel"]):
        fields.update(judge_fields(number, judge))
    fields.update(_stop_fields(values["policy"]["stop_rules"]))
    fields.update(context_fields({Role(role): set(kinds) for role, kinds in values["context"].items()}))
    fields.update(_template_fields(values["templates"]))
    runs = values["evaluator"]["command"] and values["evaluation_mode"] != EvaluationMode.JUDGE_ONLY
    return fields | {PRESET: EVALUATED if runs else PLAIN}


def _setting_field(setting: Setting, values: Mapping[str, Any]) -> Fields:
    value: Any = values
    for part in setting.path:
        value = value[part]
    if setting.kind is Kind.FLAG:
        return {setting.name: ON} if value else {}
    if setting.kind is Kind.WORDS:
        return {setting.name: ", ".join(value)}
    if setting.kind is Kind.COMMAND:
        return {setting.name: command_line(value)}
    if setting.kind is Kind.LINES:
        return {setting.name: "\n".join(value)}
    if setting.kind is Kind.SCHEMA:
        return {setting.name: schema_words(value)}
    return {setting.name: "" if value is None else str(value)}


def criterion_fields(number: int, criterion: Mapping[str, Any], was: str | None = None) -> Fields:
    start = f"criterion-{number}-"
    texts = {name: str(criterion[name]) for name in ("key", "name", "description", "ideal", "weight")}
    texts |= {"order": str(number + 1), "was": was or texts["key"]}
    return {start + name: text for name, text in texts.items()}


def check_fields(number: int, check: Mapping[str, Any]) -> Fields:
    start = f"check-{number}-"
    texts = {name: str(check[name]) for name in ("key", "kind", "severity", "weight", "suggestion")}
    texts |= {"order": str(number + 1), "was": texts["key"], "key": check_name(texts["key"])}
    fields = {start + name: text for name, text in texts.items()}
    kind = KINDS.get(check["kind"])
    if kind is not None:
        given = with_defaults(kind, check["parameters"])
        for parameter in kind.parameters:
            text = parameter_text(parameter, given[parameter.name])
            if text is not None:
                fields[f"{start}p-{parameter.name}"] = text
    return fields


def metric_fields(number: int, metric: Mapping[str, Any]) -> Fields:
    start = f"metric-{number}-"
    by = "pointer" if metric.get("pointer") else "pattern"
    texts = {"name": metric["name"], "by": by, "value": metric.get(by, ""), "order": str(number + 1)}
    fields = {start + name: str(text) for name, text in texts.items()}
    return fields | ({f"{start}lower": ON} if metric.get("lower_is_better") else {})


def judge_fields(number: int, judge: Mapping[str, Any]) -> Fields:
    texts = {name: str(judge.get(name, "")) for name in ("name", "lens", "model")}
    return {f"judge-{number}-{name}": text for name, text in (texts | {"order": str(number + 1)}).items()}


def parameter_text(parameter: Parameter, value: Any) -> str | None:
    """The parameter as field text; None for an unchecked box."""
    if parameter.type is ParameterType.FLAG:
        return ON if value else None
    if value is None:
        return ""
    if parameter.type is ParameterType.LINES:
        return "\n".join(value)
    if parameter.type is ParameterType.JSON and not isinstance(value, str):
        return json.dumps(value, indent=2, ensure_ascii=False, default=dict)
    return str(value)


def _stop_fields(chosen: list[str]) -> Fields:
    rules = distinct_rules(chosen)
    others = [rule for rule in STOP_RULE_WORDS if rule not in rules and TWINS.get(rule) not in rules]
    fields = {f"stop-{rule}-on": ON for rule in rules}
    for order, rule in enumerate([*rules, *others], start=1):
        fields[f"stop-{rule}-order"] = str(order)
    return fields


def context_fields(seen: Mapping[Role, Any]) -> Fields:
    return {
        f"context-{role}-{kind}": ON
        for role, offered in OFFERED.items()
        for kind in offered
        if kind in seen.get(role, ())
    }


def _template_fields(templates: Mapping[str, str]) -> Fields:
    fields = {f"template-{name}": templates.get(name, "") for name in TEMPLATE_NAMES}
    fields |= {f"template-{name}-default": ON for name in TEMPLATE_NAMES if name not in templates}
    return fields
