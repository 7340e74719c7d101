"""Reads a rubric from its YAML file, or reports all problems with their lines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias, TypeVar

from refinement.engine.kinds import (
    STOP_RULES,
    Composite,
    EvaluationMode,
    FeedbackStyle,
    Handover,
    Information,
    NextBase,
    ProblemClass,
    Role,
    Severity,
    StopReason,
)
from refinement.engine.profiles import PROFILES, context_rules_for
from refinement.engine.rubrics import (
    LONGEST_EVALUATION,
    Budget,
    Check,
    ContextRules,
    Criterion,
    Evaluator,
    Penalties,
    Policy,
    Rubric,
    Scale,
)
from refinement.interchange.imports.fields import (
    MISSING,
    Missing,
    Notes,
    as_json,
    brief,
    has_unstorable,
    is_nothing,
)
from refinement.interchange.rubrics.rules import consistency_problems
from refinement.interchange.rubrics.yaml_reading import BadFile, Fields, Node, Problem, Scalar, read_tree
from refinement.judging.checks import check_problems
from refinement.judging.context import OFFERED
from refinement.judging.isolation import time_limit
from refinement.judging.templating import TEMPLATE_NAMES, check_template

FORMAT = "wiggum_rubric"
FORMAT_VERSION = 1
LINE_CHARS, TEXT_CHARS, SEED_CHARS, TEMPLATE_CHARS = 160, 50_000, 200_000, 100_000
MOST_ENTRIES = 500
MOST_PARTS, MOST_PART_CHARS = 60, 2_000  # of a command

Made = TypeVar("Made")
Reader: TypeAlias = Callable[[Notes, Node, str], object]


@dataclass(frozen=True, slots=True)
class Key:
    """How to read a key's value. An `optional` value may be null."""

    read: Reader
    needed: bool = False
    optional: bool = False


def text(most: int, *, needed: bool = False) -> Reader:
    return lambda notes, node, name: notes.text(node, name, most=most, needed=needed)


def number(*, places: int = 15, digits: int = 9) -> Reader:
    return lambda notes, node, name: notes.number(node, name, places=places, digits=digits)


def whole(least: int, most: int) -> Reader:
    return lambda notes, node, name: notes.whole(node, name, least=least, most=most)


def choice(kinds: Any) -> Reader:
    return lambda notes, node, name: notes.choice(node, name, kinds)


def flag(notes: Notes, node: Node, name: str) -> object:
    return notes.flag(node, name)


def short_texts(notes: Notes, node: Node, name: str) -> object:
    """A list of short texts."""
    found = notes.each(node, name, partial(notes.text, most=LINE_CHARS, needed=True))
    return found if isinstance(found, Missing) else tuple(found)


def stop_rules(notes: Notes, node: Node, name: str) -> object:
    found = notes.each(node, name, lambda entry, label: notes.choice(entry, label, StopReason))
    if isinstance(found, Missing):
        return found
    odd = [rule.value for rule in found if rule not in STOP_RULES]
    if odd:
        return notes.add(node.line, f"{name}: {odd[0]} is not a stop rule.")
    return tuple(found)


def record(made: Callable[..., object], keys: Mapping[str, Key]) -> Reader:
    return lambda notes, node, name: read_record(notes, node, name, keys, made)


def read_record(
    notes: Notes, node: Node, name: str, keys: Mapping[str, Key], made: Callable[..., Made]
) -> Made | Missing:
    """An object built from the keys; MISSING if a value could not be read."""
    fields = notes.record(node, name, {key: spec.needed for key, spec in keys.items()})
    if isinstance(fields, Missing):
        return fields
    values: dict[str, object] = {}
    for key, spec in keys.items():
        if key not in fields.values:
            continue
        value_node = fields.values[key]
        empty = spec.optional and is_nothing(value_node)
        values[key] = None if empty else spec.read(notes, value_node, f"{key} in {name}")
    if any(isinstance(value, Missing) for value in values.values()):
        return MISSING
    if any(spec.needed and key not in values for key, spec in keys.items()):
        return MISSING
    try:
        return made(**values)
    except ValueError as error:
        return notes.add(node.line, f"{name}: {error}.")


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


def parameters(notes: Notes, node: Node, name: str) -> object:
    if is_nothing(node):
        return {}
    if not isinstance(node, Fields):
        return notes.add(node.line, f"{name} must be keys with values below it.")
    value = as_json(node)
    return notes.add(node.line, f"{name} cannot be stored.") if has_unstorable(value) else value


def command_parts(notes: Notes, node: Node, name: str) -> object:
    """The program and its arguments."""
    if is_nothing(node):
        return ()
    found = notes.each(node, name, partial(notes.text, most=MOST_PART_CHARS))
    if isinstance(found, Missing):
        return found
    if len(found) > MOST_PARTS:
        return notes.add(node.line, f"{name} has {len(found):,} parts; {MOST_PARTS} are allowed.")
    if found and not found[0].strip():
        return notes.add(node.line, f"{name} must start with the program.")
    return tuple(found)


CHECK = {
    "key": Key(text(60, needed=True), needed=True),
    "kind": Key(text(30, needed=True), needed=True),
    "parameters": Key(parameters),
    "severity": Key(choice(Severity)),
    "weight": Key(COLUMN),
    "suggestion": Key(text(TEXT_CHARS)),
}
EVALUATOR = {
    "command": Key(command_parts),
    "handover": Key(choice(Handover)),
    "file_name": Key(text(60, needed=True)),
    "timeout": Key(whole(1, LONGEST_EVALUATION)),
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
    "minimum_gain": Key(number(), optional=True),
    "plateau_rounds": Key(whole(2, 1_000)),
    "plateau_window": Key(whole(1, 999)),
    "checks_in_composite": Key(flag),
    "primary_first": Key(flag),
    "penalties": Key(record(Penalties, PENALTIES)),
    "budget": Key(record(Budget, BUDGET)),
    "judge_limit_chars": Key(whole(1, 10_000_000)),
    "producer_tokens": Key(whole(1, 10_000_000)),
    "producer_temperature": Key(number()),
    "first_number": Key(whole(0, 1)),
    "round_word": Key(text(20, needed=True)),
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


def entries(read: Callable[[Notes, Node, str], Any]) -> Reader:
    def read_all(notes: Notes, node: Node, name: str) -> object:
        found = notes.each(node, name, partial(read, notes))
        if isinstance(found, Missing):
            return found
        if len(found) > MOST_ENTRIES:
            return notes.add(node.line, f"{name} has {len(found):,} entries; {MOST_ENTRIES} are allowed.")
        return tuple(found)

    return read_all


def context(notes: Notes, node: Node, name: str) -> object:
    keys = {role.value: Key(partial(kinds_for, role), needed=role is not Role.REFLECT) for role in Role}
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
class Seed:
    text: str
    scores: Mapping[str, Decimal]


def seed_scores(notes: Notes, node: Node, name: str) -> object:
    if not isinstance(node, Fields):
        return notes.add(node.line, f"{name} must be criterion keys, each with a score.")
    scores = {key: notes.number(value, f"The score of {brief(key)}") for key, value in node.values.items()}
    return MISSING if any(isinstance(value, Missing) for value in scores.values()) else scores


SEED = {
    "text": Key(text(SEED_CHARS, needed=True), needed=True),
    "scores": Key(seed_scores, needed=True),
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
    "evaluator": Key(record(Evaluator, EVALUATOR), optional=True),
    "scale": Key(record(Scale, SCALE), needed=True),
    "criteria": Key(entries(criterion)),
    "checks": Key(entries(check)),
    "policy": Key(record(Policy, POLICY), needed=True),
    "context": Key(context),
    "background": Key(text(TEXT_CHARS)),
    "output_contract": Key(text(TEXT_CHARS)),
    "search_space": Key(text(TEXT_CHARS)),
    "templates": Key(templates),
    "seed": Key(record(Seed, SEED), optional=True),
}


def rubric_from_yaml(source: str) -> Rubric:
    """The rubric in the file. Raises BadFile with all problems by line."""
    root = read_tree(source)
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
    fields = {key: value for key, value in values.items() if key not in (FORMAT, "seed")}
    seed: Seed | None = values.get("seed")
    if seed is not None:
        fields |= {"seed_text": seed.text, "seed_scores": seed.scores}
    fields.setdefault("context", context_rules_for(fields.get("problem_class", ProblemClass.TEXT)))
    return Rubric(**fields)
