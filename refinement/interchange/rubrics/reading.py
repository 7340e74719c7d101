"""Reads a rubric from its YAML file, or reports all problems with their lines."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

from refinement.engine.kinds import (
    STOP_RULES,
    Composite,
    EvaluationMode,
    FeedbackStyle,
    Information,
    MinimumGain,
    NextBase,
    OnPlateau,
    ProblemClass,
    Role,
    Severity,
    StopReason,
)
from refinement.engine.profiles import PROFILES, context_rules_for, preset_rules
from refinement.engine.rubrics import (
    Budget,
    Check,
    ContextRules,
    Criterion,
    Penalties,
    Policy,
    Rubric,
    Scale,
)
from refinement.interchange.imports.fields import (
    MISSING,
    Missing,
    Notes,
    brief,
    is_nothing,
)
from refinement.interchange.rubrics.evaluators import EVALUATOR, contract_pattern, contract_schema
from refinement.interchange.rubrics.judges import JUDGES
from refinement.interchange.rubrics.records import (
    LINE_CHARS,
    Key,
    choice,
    entries,
    flag,
    number,
    parameters,
    read_record,
    record,
    short_texts,
    text,
    whole,
)
from refinement.interchange.rubrics.rules import consistency_problems
from refinement.interchange.rubrics.yaml_reading import BadFile, Fields, Node, Problem, Scalar, read_tree
from refinement.judging.checks import check_problems
from refinement.judging.context import OFFERED
from refinement.judging.isolation import time_limit
from refinement.judging.templating import TEMPLATE_NAMES, check_template

FORMAT = "wiggum_rubric"
FORMAT_VERSION = 1
TEXT_CHARS, EXAMPLE_CHARS, TEMPLATE_CHARS = 50_000, 200_000, 100_000


def stop_rules(notes: Notes, node: Node, name: str) -> object:
    found = notes.each(node, name, lambda entry, label: notes.choice(entry, label, StopReason))
    if isinstance(found, Missing):
        return found
    odd = [rule.value for rule in found if rule not in STOP_RULES]
    if odd:
        return notes.add(node.line, f"{name}: {odd[0]} is not a stop rule.")
    return tuple(found)


def minimum_gain(notes: Notes, node: Node, name: str) -> object:
    """A number, or the word for the judge's noise."""
    if isinstance(node, Scalar) and node.text == MinimumGain.NOISE:
        return MinimumGain.NOISE
    return number()(notes, node, name)


COLUMN = number(places=4, digits=5)
SCALE = {
    "minimum": Key(COLUMN, needed=True),
    "maximum": Key(COLUMN, needed=True),
    "step": Key(COLUMN, optional=True),
}
CRITERION = {
    "key": Key(text(60, needed=True), needed=True),
    "name": Key(text(120, needed=True), needed=True),
    "description": Key(text(TEXT_CHARS)),
    "ideal": Key(text(TEXT_CHARS)),
    "weight": Key(COLUMN),
    "primary": Key(flag),
}


CHECK = {
    "key": Key(text(60, needed=True), needed=True),
    "kind": Key(text(30, needed=True), needed=True),
    "parameters": Key(parameters),
    "severity": Key(choice(Severity)),
    "weight": Key(COLUMN),
    "suggestion": Key(text(TEXT_CHARS)),
}
PENALTIES = {
    "criterion": Key(text(60), optional=True),
    "points": Key(number()),
    "cap": Key(number()),
    "allowed_objects": Key(short_texts),
}
BUDGET = {
    "tokens": Key(whole(1, 10**12), optional=True),
    "seconds": Key(number(), optional=True),
    "calls": Key(whole(1, 10**12), optional=True),
}
POLICY = {
    "max_rounds": Key(whole(1, 1_000), needed=True),
    "stop_rules": Key(stop_rules, needed=True),
    "composite": Key(choice(Composite), needed=True),
    "next_base": Key(choice(NextBase), needed=True),
    "feedback": Key(choice(FeedbackStyle), needed=True),
    "pass_threshold": Key(number(), optional=True),
    "perfect_score": Key(number(), optional=True),
    "minimum_gain": Key(minimum_gain, optional=True),
    "plateau_rounds": Key(whole(2, 1_000)),
    "plateau_window": Key(whole(1, 999)),
    "on_plateau": Key(choice(OnPlateau)),
    "checks_in_composite": Key(flag),
    "primary_first": Key(flag),
    "penalties": Key(record(Penalties, PENALTIES)),
    "budget": Key(record(Budget, BUDGET)),
    "judge_limit_chars": Key(whole(1, 10_000_000)),
    "source_limit_chars": Key(whole(1, 500_000)),
    "producer_tokens": Key(whole(1, 10_000_000)),
    "producer_temperature": Key(number()),
    "composite_decimals": Key(whole(0, 6)),
}


def criterion(notes: Notes, node: Node, name: str) -> Criterion | Missing:
    return read_record(notes, node, name, CRITERION, Criterion)


def check(notes: Notes, node: Node, name: str) -> Check | Missing:
    found = read_record(notes, node, name, CHECK, Check)
    if not isinstance(found, Missing):
        for problem in check_problems(found):
            notes.add(node.line, f"{name} ({brief(found.key)}): {problem}")
    return found


def context(notes: Notes, node: Node, name: str) -> object:
    keys = {role.value: Key(partial(kinds_for, role), needed=True) for role in OFFERED}
    return read_record(notes, node, name, keys, ContextRules)


def kinds_for(role: Role, notes: Notes, node: Node, name: str) -> object:
    """The kinds of information that a role may see. Kinds it can never see are errors."""

    def kind(entry: Node, label: str) -> Information | Missing:
        found = notes.choice(entry, label, Information)
        if isinstance(found, Missing) or found in OFFERED[role]:
            return found
        offered = ", ".join(kind.value for kind in Information if kind in OFFERED[role])
        return notes.add(entry.line, f"The {role.value} cannot see {found.value}. Available: {offered}.")

    found = notes.each(node, name, kind)
    return found if isinstance(found, Missing) else frozenset(found)


def templates(notes: Notes, node: Node, name: str) -> object:
    if is_nothing(node):
        return {}
    fields = notes.record(node, name, dict.fromkeys(TEMPLATE_NAMES, False))
    if isinstance(fields, Missing):
        return fields
    sources: dict[str, str] = {}
    for key, value in fields.values.items():
        source = notes.text(value, f"{key} in {name}", most=TEMPLATE_CHARS)
        if isinstance(source, Missing) or key not in TEMPLATE_NAMES:
            continue
        sources[key] = source
        # A block text starts on the line after its key, any other text on the same line.
        for problem in check_template(key, source):
            line = value.line + problem.line if "\n" in source else value.line
            notes.add(line, f"The template {key!r}, line {problem.line}: {problem.message}")
    return sources


@dataclass(frozen=True, slots=True)
class Example:
    """A calibration example."""

    text: str
    scores: Mapping[str, Decimal]


def example_scores(notes: Notes, node: Node, name: str) -> object:
    if not isinstance(node, Fields):
        return notes.add(node.line, f"{name} must be criterion keys, each with a score.")
    scores = {key: notes.number(value, f"The score of {brief(key)}") for key, value in node.values.items()}
    return MISSING if any(isinstance(value, Missing) for value in scores.values()) else scores


EXAMPLE = {
    "text": Key(text(EXAMPLE_CHARS, needed=True), needed=True),
    "scores": Key(example_scores, needed=True),
}


def format_version(notes: Notes, node: Node, name: str) -> object:
    if isinstance(node, Scalar) and node.text == str(FORMAT_VERSION):
        return FORMAT_VERSION
    return notes.add(node.line, f"{FORMAT} must be {FORMAT_VERSION}, the only supported version.")


def profile(notes: Notes, node: Node, name: str) -> object:
    if isinstance(node, Scalar) and node.text in PROFILES:
        return node.text
    return notes.add(node.line, f"The profile must be one of: {', '.join(PROFILES)}.")


RUBRIC = {
    FORMAT: Key(format_version, needed=True),
    "name": Key(text(LINE_CHARS, needed=True), needed=True),
    "purpose": Key(text(TEXT_CHARS)),
    "profile": Key(profile, needed=True),
    "artifact_type": Key(text(40)),
    "problem_class": Key(choice(ProblemClass)),
    "evaluation_mode": Key(choice(EvaluationMode)),
    "evaluator": Key(EVALUATOR, optional=True),
    "scale": Key(record(Scale, SCALE), needed=True),
    "criteria": Key(entries(criterion)),
    "checks": Key(entries(check)),
    "judges": Key(JUDGES, optional=True),
    "policy": Key(record(Policy, POLICY), needed=True),
    "context": Key(context),
    "background": Key(text(TEXT_CHARS)),
    "output_contract": Key(text(TEXT_CHARS)),
    "output_schema": Key(contract_schema),
    "output_pattern": Key(contract_pattern),
    "search_space": Key(text(TEXT_CHARS)),
    "templates": Key(templates),
    "calibration": Key(record(Example, EXAMPLE), optional=True),
}


def rubric_from_yaml(source: str) -> Rubric:
    """The rubric in the file. Raises BadFile with all problems by line."""
    root = with_current_names(read_tree(source))
    if FORMAT not in root.values:
        first = f"This is not a rubric file: the line “{FORMAT}: {FORMAT_VERSION}” is missing."
        raise BadFile([Problem(1, first)])
    notes = Notes()
    with time_limit():
        values = read_values(notes, root)
    notes.problems += consistency_problems(root, values)
    if notes.problems:
        raise BadFile(notes.problems)
    try:
        return assembled(values)
    except ValueError as error:  # the engine may be stricter than the rules here
        raise BadFile([Problem(1, f"{error}.")]) from None


def with_current_names(root: Fields) -> Fields:
    """The file with `seed`, the earlier name of `calibration`, under its current name."""
    if "seed" in root.values and "calibration" not in root.values:
        root.values["calibration"] = root.values.pop("seed")
        root.lines["calibration"] = root.lines.pop("seed")
    return root


def read_values(notes: Notes, root: Fields) -> dict[str, Any]:
    """The top-level values that could be read. Problems with the others are recorded."""
    notes.record(root, "a rubric file", {key: spec.needed for key, spec in RUBRIC.items()})
    values: dict[str, Any] = {}
    for key, spec in RUBRIC.items():
        if key in root.values and not (spec.optional and is_nothing(root.values[key])):
            value = spec.read(notes, root.values[key], key)
            if not isinstance(value, Missing):
                values[key] = value
    return values


def assembled(values: dict[str, Any]) -> Rubric:
    fields = {key: value for key, value in values.items() if key not in (FORMAT, "calibration")}
    example: Example | None = values.get("calibration")
    if example is not None:
        fields |= {"calibration_text": example.text, "calibration_scores": example.scores}
    if "context" in fields:
        return Rubric(**fields)
    rubric = Rubric(**fields, context=context_rules_for(fields["profile"]))
    return replace(rubric, context=preset_rules(rubric))
