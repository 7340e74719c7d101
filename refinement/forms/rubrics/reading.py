"""Editor fields to a definition, or to errors by field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from refinement.engine.codec import BadRubric, rubric_from_json
from refinement.engine.rubrics import FILE_NAME
from refinement.engine.types import STOP_RULES, EvaluationMode, Handover, Role, Rubric, Scale, StopReason
from refinement.forms.rubrics.initial import Fields
from refinement.forms.rubrics.judges import read_panel
from refinement.forms.rubrics.outputs import read_metrics, refuse_odd_outputs
from refinement.forms.rubrics.presets import with_preset_followed
from refinement.forms.rubrics.rows import (
    MOST_CHECKS,
    MOST_CRITERIA,
    Problems,
    place_of,
    read_checks,
    read_criteria,
)
from refinement.forms.rubrics.settings import SETTINGS
from refinement.forms.rubrics.values import setting_value, tidy
from refinement.forms.rubrics.words import distinct_rules
from refinement.judging.context import OFFERED
from refinement.judging.isolation import time_limit
from refinement.judging.templating import TEMPLATE_NAMES, check_template
from refinement.texts import storable

NOTE_LIMIT = 400
RULES_FOLLOWED = "The evaluator was added or removed, so “Who sees what” was set to the matching preset."


@dataclass
class Reading:
    """A definition or errors by field, and notices for the user."""

    definition: Rubric | None = None
    problems: dict[str, list[str]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)  # a criterion's new key to its earlier one


def clean_fields(posted: Mapping[str, str]) -> Fields:
    """The posted fields as cleaned texts."""
    return {name: storable(tidy(str(value))) for name, value in posted.items()}


def read_definition(fields: Fields, base: Rubric) -> Reading:
    """The definition in the fields; settings without a field come from the edited version."""
    with time_limit():
        return _read(fields, base)


def _read(submitted: Fields, base: Rubric) -> Reading:
    fields = with_preset_followed(submitted, base.profile)
    problems, reading = Problems(), Reading()
    values = _settings(fields, problems)
    rows = list(read_criteria(fields, {entry.key: entry for entry in base.criteria}, problems))
    values["criteria"] = [row for _, _, row in rows]
    checks = list(read_checks(fields, {check.key: check for check in base.checks}, problems))
    values["checks"] = [row for _, row in checks]
    values["evaluator"]["metrics"] = read_metrics(fields, problems)
    values["judges"]["panel"] = read_panel(fields, problems)
    values["profile"] = base.profile
    policy = values["policy"]
    policy["stop_rules"] = _stop_rules(fields)
    policy["penalties"]["criterion"] = next(
        (row["key"] for number, _, row in rows if number == fields.get("docked")), None
    )
    values["context"] = _context(fields, base)
    values["templates"] = _templates(fields, base, problems)
    _refuse_odd_counts(values, problems)
    _refuse_odd_numbers(values, problems)
    _refuse_odd_evaluator(values, problems)
    refuse_odd_outputs(values, problems)
    _read_note(fields, problems)
    reading.renamed = {row["key"]: was for _, was, row in rows if was and was != row["key"]}
    reading.problems = _in_page_order(problems.by_field)
    if not reading.problems:
        reading.notices = [
            *_docking_notice(fields, rows),
            *_carry_calibration(values, base, rows),
            *([RULES_FOLLOWED] if fields is not submitted and _sees(fields) != _sees(submitted) else []),
        ]
        _finish(reading, values)
    return reading


def _finish(reading: Reading, values: dict[str, Any]) -> None:
    try:
        reading.definition = rubric_from_json(values)
    except BadRubric as error:
        # Known rules have their own field errors above; report the rest too.
        reading.problems["rubric-editor"] = [f"Cannot save: {error}."]


def _settings(fields: Fields, problems: Problems) -> dict[str, Any]:
    values: dict[str, Any] = {"policy": {}}
    for setting in SETTINGS:
        place = values
        for part in setting.path[:-1]:
            place = place.setdefault(part, {})
        place[setting.path[-1]] = problems.take(
            setting.name, None, setting_value, setting, fields.get(setting.name, "")
        )
    return values


def _stop_rules(fields: Fields) -> list[str]:
    """The enabled rules in order; those without a position come last."""
    chosen = [rule for rule in StopReason if rule in STOP_RULES and fields.get(f"stop-{rule}-on")]
    ordered = sorted(chosen, key=lambda rule: place_of(fields.get(f"stop-{rule}-order", "")))
    return [str(rule) for rule in distinct_rules(ordered)]


def _context(fields: Fields, base: Rubric) -> dict[str, list[str]]:
    """The checked cells, plus entries of the version that the table does not show."""
    return {
        role: sorted(
            {*kinds, *(str(kind) for kind in base.context.allowed(Role(role)) - OFFERED[Role(role)])}
        )
        for role, kinds in _sees(fields).items()
    }


def _sees(fields: Fields) -> dict[str, set[str]]:
    """The checked cells of the visibility table, by role."""
    return {
        str(role): {str(kind) for kind in offered if fields.get(f"context-{role}-{kind}")}
        for role, offered in OFFERED.items()
    }


def _templates(fields: Fields, base: Rubric, problems: Problems) -> dict[str, str]:
    kept = {name: source for name, source in base.templates.items() if name not in TEMPLATE_NAMES}
    for name in TEMPLATE_NAMES:
        if fields.get(f"template-{name}-default"):
            continue
        kept[name] = fields.get(f"template-{name}", "")
        if not kept[name].strip():
            problems.add(f"template-{name}", "Empty. Enter a template or use the default.")
            continue
        for problem in check_template(name, kept[name])[:8]:
            problems.add(f"template-{name}", f"Line {problem.line}: {problem.message}")
    return kept


def _refuse_odd_counts(values: dict[str, Any], problems: Problems) -> None:
    criteria, checks = len(values["criteria"]), len(values["checks"])
    if not criteria and not checks:
        problems.add("criteria", "Add at least one criterion or check.")
    elif not criteria and not values["policy"]["checks_in_composite"]:
        problems.add(
            "policy-checks_in_composite",
            "Without criteria, the checks must count in the composite. Turn this on or add a criterion.",
        )
    if criteria > MOST_CRITERIA:
        problems.add("criteria", f"{criteria} criteria; at most {MOST_CRITERIA} are allowed. Remove some.")
    if checks > MOST_CHECKS:
        problems.add("checks", f"{checks} checks; at most {MOST_CHECKS} are allowed. Remove some.")


def _refuse_odd_numbers(values: dict[str, Any], problems: Problems) -> None:
    """Cross-field errors: limits against the scale, and the plateau's two numbers."""
    scale, policy = values["scale"], values["policy"]
    low, high = scale["minimum"], scale["maximum"]
    if low is not None and high is not None:
        if Decimal(low) >= Decimal(high):
            problems.add("scale-maximum", "The highest score must be greater than the lowest.")
        else:
            _refuse_outside(policy, Decimal(low), Decimal(high), problems)
    rounds, window = policy["plateau_rounds"], policy["plateau_window"]
    if rounds is not None and window is not None and window >= rounds:
        problems.add("policy-plateau_window", f"Must be less than the rounds needed ({rounds}).")


def _refuse_odd_evaluator(values: dict[str, Any], problems: Problems) -> None:
    """Errors for a missing command, or one that does not receive the text."""
    evaluator = values["evaluator"]
    command, name = evaluator["command"], evaluator["file_name"]
    if command == [] and values["evaluation_mode"] == EvaluationMode.RUNNABLE:
        problems.add("evaluator-command", "This evaluation needs a command.")
    if command and evaluator["handover"] == Handover.FILE and not any("{file}" in part for part in command):
        problems.add(
            "evaluator-command",
            "Use {file} for the path of the text, or pass the text on standard input.",
        )
    if name and not FILE_NAME.fullmatch(name):
        problems.add(
            "evaluator-file_name",
            "Use only letters a to z, digits, hyphens, dots and underscores.",
        )


def _refuse_outside(policy: dict[str, Any], low: Decimal, high: Decimal, problems: Problems) -> None:
    for name in ("pass_threshold", "perfect_score"):
        if policy[name] is not None and not low <= Decimal(policy[name]) <= high:
            problems.add(f"policy-{name}", f"Must be on the scale, from {low} to {high}.")


def _read_note(fields: Fields, problems: Problems) -> None:
    if len(fields.get("note", "")) > NOTE_LIMIT:
        problems.add(
            "note", f"{len(fields['note']):,} characters; at most {NOTE_LIMIT} are allowed. Shorten it."
        )


def _carry_calibration(
    values: dict[str, Any], base: Rubric, rows: list[tuple[str, str, dict[str, Any]]]
) -> list[str]:
    """Copies the calibration example, scores under the current keys; reports scores that no longer fit."""
    values["calibration_text"], values["calibration_scores"] = "", {}
    if not base.calibration_text:
        return []
    step = values["scale"]["step"]
    scale = Scale(
        Decimal(values["scale"]["minimum"]),
        Decimal(values["scale"]["maximum"]),
        None if step is None else Decimal(step),
    )
    keys = {was: row["key"] for _, was, row in rows if was}
    scores = {keys[key]: score for key, score in base.calibration_scores.items() if key in keys}
    fitting = {key: str(score) for key, score in scores.items() if scale.admits(score)}
    notices = _calibration_notices(
        [key for key in base.calibration_scores if key not in keys], scores.keys() - fitting.keys()
    )
    if fitting:
        values["calibration_text"], values["calibration_scores"] = base.calibration_text, fitting
    else:
        notices.append(
            "No calibration score is left, so this version has no calibration example. "
            "Earlier versions keep it."
        )
    return notices


def _docking_notice(fields: Fields, rows: list[tuple[str, str, dict[str, Any]]]) -> list[str]:
    docked = fields.get("docked")
    if not docked or docked in [number for number, _, _ in rows]:
        return []
    return ["The penalty for invented names was removed along with its criterion."]


def _calibration_notices(removed: list[str], off_scale: Any) -> list[str]:
    notices = []
    if removed:
        notices.append(f"Calibration scores were removed along with their criteria: {', '.join(removed)}.")
    if off_scale:
        notices.append(
            f"Calibration scores outside the new scale were removed: {', '.join(sorted(off_scale))}."
        )
    return notices


def _in_page_order(problems: dict[str, list[str]]) -> dict[str, list[str]]:
    """The errors in page order."""
    sections = (
        ("name", "artifact_type", "problem_class", "purpose"),
        ("criteri",),
        ("check",),
        ("judge", "panel", "policy-on_plateau"),
        ("scale-", "policy-"),
        ("evaluation_mode", "evaluator-", "metric"),
        ("background", "output_", "search_space"),
        ("template-",),
    )

    def place(name: str) -> int:
        return next(
            (place for place, starts in enumerate(sections) if name.startswith(starts)), len(sections)
        )

    return dict(sorted(problems.items(), key=lambda item: place(item[0])))
