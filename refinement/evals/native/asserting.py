"""Converts the assertions of a test to checks and judge criteria."""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

from refinement.engine.types import ONE, Check, Criterion, Severity
from refinement.evals.filling import Fill, text_or_file
from refinement.evals.native.ranges import ranges_text
from refinement.interchange.imports.fields import Missing, Notes, as_json, brief, has_unstorable
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar
from refinement.judging.checks import COMMAND, check_problems
from refinement.providers.processes import Command

TEXT_CHARS = 20_000
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
MOST_WEIGHT = 100
SCRIPT_SECONDS = 60
MOST_SCRIPT_SECONDS = 3_600
# A failed assertion lowers the score, and the threshold decides. One of severity error must pass.
DEFAULT_SEVERITY = Severity.WARNING
COMMON = ("type", "id", "weight")
OF_CHECKS = ("severity", "suggestion")
PARTS = ("id", "criterion", "ideal", "weight", "score_ranges")


@dataclass(slots=True)
class Asserted:
    """Collects the checks and criteria of a case."""

    notes: Notes
    fill: Fill
    folder: Path
    checks: list[Check] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)  # by key
    hints: set[str] = field(default_factory=set)  # keys of warnings and hints, which never decide

    def key_for(self, node: Node | None, kind: str) -> str:
        """The id from the file, or one made from the kind and a number."""
        if isinstance(node, Scalar) and KEY.fullmatch(node.text):
            if node.text in self.types:
                self.notes.add(node.line, f"Two assertions have the id {brief(node.text)}.")
            key = node.text
        else:
            if node is not None:
                self.notes.add(node.line, "An id may contain letters, digits, '.', '_' and '-', at most 60.")
            numbers = range(1, len(self.types) + 2)
            key = next(made for number in numbers if (made := f"{kind}-{number}") not in self.types)
        self.types[key] = kind
        return key

    def text(self, node: Node, name: str) -> str | Missing:
        text = text_or_file(self.notes, node, name, self.folder, most=TEXT_CHARS)
        return text if isinstance(text, Missing) else self.fill(self.notes, node.line, text)


Reader: TypeAlias = Callable[[Asserted, Fields, str], "Mapping[str, object] | Missing"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of assertion: its check, its own keys, and how to read them."""

    check: str
    keys: Mapping[str, bool]  # and whether each is required
    read: Reader


def phrase(**fixed: object) -> Reader:
    def read(asserted: Asserted, entry: Fields, name: str) -> Mapping[str, object] | Missing:
        text = asserted.text(entry.values["value"], f"{name}.value")
        return text if isinstance(text, Missing) else {"text": text, **fixed}

    return read


def pattern(**fixed: object) -> Reader:
    def read(asserted: Asserted, entry: Fields, name: str) -> Mapping[str, object] | Missing:
        text = asserted.text(entry.values["value"], f"{name}.value")
        flags = entry.values.get("flags")
        letters = asserted.notes.text(flags, f"{name}.flags", most=8) if flags else ""
        if isinstance(text, Missing) or isinstance(letters, Missing):
            return Missing()
        return {"pattern": text, **({"flags": letters} if letters else {}), **fixed}

    return read


def schema(asserted: Asserted, entry: Fields, name: str) -> Mapping[str, object] | Missing:
    node = entry.values["value"]
    if isinstance(node, Scalar):
        text = text_or_file(asserted.notes, node, f"{name}.value", asserted.folder)
        return text if isinstance(text, Missing) else {"schema": text}
    value = as_json(node)
    if has_unstorable(value):
        return asserted.notes.add(node.line, f"{name}.value contains a character that cannot be stored.")
    return {"schema": value}


def limits(asserted: Asserted, entry: Fields, name: str) -> Mapping[str, object] | Missing:
    bounds: dict[str, object] = {}
    for key, parameter in (("min", "minimum"), ("max", "maximum")):
        if key in entry.values:
            bounds[parameter] = asserted.notes.whole(
                entry.values[key], f"{name}.{key}", least=0, most=1_000_000_000
            )
    if "unit" in entry.values:
        bounds["unit"] = asserted.notes.text(entry.values["unit"], f"{name}.unit", most=20)
    return Missing() if any(isinstance(value, Missing) for value in bounds.values()) else bounds


def no_parameters(asserted: Asserted, entry: Fields, name: str) -> Mapping[str, object]:
    return {}


def script(asserted: Asserted, entry: Fields, name: str) -> Mapping[str, object] | Missing:
    """A command that passes with exit status 0. It must exist before the eval starts."""
    notes, node = asserted.notes, entry.values["value"]
    parts = command_parts(notes, node, f"{name}.value")
    seconds: int | Missing = SCRIPT_SECONDS
    if "timeout" in entry.values:
        seconds = notes.whole(entry.values["timeout"], f"{name}.timeout", least=1, most=MOST_SCRIPT_SECONDS)
    if isinstance(parts, Missing) or isinstance(seconds, Missing):
        return Missing()
    problem = Command(parts, str(asserted.folder)).problem()
    if problem:
        return notes.add(node.line, f"{name}: the script {brief(parts[0])} cannot be started: {problem}.")
    return {"command": list(parts), "timeout": seconds}


def command_parts(notes: Notes, node: Node, name: str) -> tuple[str, ...] | Missing:
    """A command as a list of parts. Text is split like in a shell, but no shell is used."""
    if isinstance(node, Items):
        parts = [notes.text(part, name, most=TEXT_CHARS, needed=True) for part in node.values]
        if not parts:
            return notes.add(node.line, f"{name} must not be empty.")
        read = tuple(part for part in parts if not isinstance(part, Missing))
        return read if len(read) == len(parts) else Missing()
    text = notes.text(node, name, most=TEXT_CHARS, needed=True)
    if isinstance(text, Missing):
        return text
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        return notes.add(node.line, f"{name} cannot be split into parts ({error}); write it as a list.")


VALUE = {"value": True}
KINDS: Mapping[str, Kind] = {
    "contains": Kind("contains", VALUE, phrase()),
    "not-contains": Kind("not-contains", VALUE, phrase()),
    "icontains": Kind("contains", VALUE, phrase(ignore_case=True)),
    "not-icontains": Kind("not-contains", VALUE, phrase(ignore_case=True)),
    "equals": Kind("equals", VALUE, phrase()),
    "starts-with": Kind("starts-with", VALUE, phrase()),
    "regex": Kind("regex", {"value": True, "flags": False}, pattern()),
    "not-regex": Kind("regex", {"value": True, "flags": False}, pattern(must_match=False)),
    "is-json": Kind("is-json", {}, no_parameters),
    "json-schema": Kind("json-schema", VALUE, schema),
    "length": Kind("length", {"min": False, "max": False, "unit": False}, limits),
    "script": Kind(COMMAND, {"value": True, "timeout": False}, script),
}
RUBRIC = "llm-rubric"
TYPES = (*KINDS, RUBRIC)


def read_assert(asserted: Asserted, node: Node, name: str) -> None:
    """Reads one entry of `assert`. Plain text is a criterion for the judge."""
    notes = asserted.notes
    if isinstance(node, Scalar):
        read_criterion(asserted, node, name, ONE)
        return
    kind = node.values.get("type") if isinstance(node, Fields) else None
    if not isinstance(node, Fields) or not isinstance(kind, Scalar) or kind.text not in TYPES:
        line = kind.line if kind is not None else node.line
        problem = f"unknown type {brief(kind.text)}" if isinstance(kind, Scalar) else "type is required"
        notes.add(line, f"{name}: {problem}. Available: {', '.join(TYPES)}.")
        return
    if kind.text == RUBRIC:
        read_rubric(asserted, node, name)
    else:
        read_check(asserted, node, name, kind.text)


def read_check(asserted: Asserted, entry: Fields, name: str, type_name: str) -> None:
    notes, kind, before = asserted.notes, KINDS[type_name], len(asserted.notes.problems)
    known = dict.fromkeys((*COMMON, *OF_CHECKS), False) | dict(kind.keys)
    notes.record(entry, f"{name} ({type_name})", known)
    if any(needed and key not in entry.values for key, needed in kind.keys.items()):
        return
    parameters = kind.read(asserted, entry, name)
    severity, suggestion = entry.values.get("severity"), entry.values.get("suggestion")
    grade = notes.choice(severity, f"{name}.severity", Severity) if severity else DEFAULT_SEVERITY
    advice = asserted.text(suggestion, f"{name}.suggestion") if suggestion else ""
    weight = read_weight(notes, entry, name)
    key = asserted.key_for(entry.values.get("id"), type_name)
    if len(notes.problems) > before or isinstance(parameters, Missing):
        return
    assert not isinstance(grade, Missing)
    assert not isinstance(advice, Missing)
    check = Check(key, kind.check, parameters, grade, weight, advice)
    problems = [] if kind.check == COMMAND else check_problems(check)
    for problem in problems:
        notes.add(entry.line, f"{name} ({type_name}): {problem}")
    asserted.checks.append(check)
    if severity is not None and grade is not Severity.ERROR:
        asserted.hints.add(key)


def read_weight(notes: Notes, entry: Fields, name: str) -> Decimal:
    """The weight of an assertion, by default 1."""
    node = entry.values.get("weight")
    if node is None:
        return ONE
    weight = notes.number(node, f"{name}.weight", places=2)
    if isinstance(weight, Missing):
        return ONE
    if not 0 < weight <= MOST_WEIGHT:
        notes.add(node.line, f"{name}.weight must be above 0 and at most {MOST_WEIGHT}.")
        return ONE
    return weight


def read_rubric(asserted: Asserted, entry: Fields, name: str) -> None:
    """Reads criteria for a judge: one text, or a list of items with their own weights."""
    known = {"type": True, "weight": False, "value": True}
    value = entry.values.get("value")
    asserted.notes.record(
        entry, f"{name} ({RUBRIC})", known | ({} if isinstance(value, Items) else {"id": False})
    )
    weight = read_weight(asserted.notes, entry, name)
    if value is None:
        return
    if not isinstance(value, Items):
        read_criterion(asserted, value, name, weight, entry.values.get("id"))
        return
    if not value.values:
        asserted.notes.add(value.line, f"{name}.value must not be empty.")
    for place, part in enumerate(value.values, 1):
        read_part(asserted, part, f"{name}.value, entry {place}", weight)


def read_part(asserted: Asserted, node: Node, name: str, share: Decimal) -> None:
    if not isinstance(node, Fields):
        read_criterion(asserted, node, name, share)
        return
    asserted.notes.record(node, name, {key: key == "criterion" for key in PARTS})
    if "criterion" not in node.values:
        return
    weight = share * read_weight(asserted.notes, node, name)
    read_criterion(asserted, node.values["criterion"], name, weight, node.values.get("id"), node)


def read_criterion(
    asserted: Asserted,
    node: Node,
    name: str,
    weight: Decimal,
    id_node: Node | None = None,
    part: Fields | None = None,
) -> None:
    text = asserted.text(node, name)
    ideal_node = part.values.get("ideal") if part else None
    ideal = asserted.text(ideal_node, f"{name}.ideal") if ideal_node else ""
    ranges = part.values.get("score_ranges") if part else None
    levels = ranges_text(asserted, ranges, f"{name}.score_ranges") if ranges else ""
    key = asserted.key_for(id_node, RUBRIC)
    if isinstance(text, Missing) or isinstance(ideal, Missing):
        return
    title = text.strip().splitlines()[0]
    asserted.criteria.append(
        Criterion(
            key=key,
            name=title if len(title) <= 80 else f"{title[:79]}…",
            description=f"{text.strip()} {levels}".strip(),
            ideal=ideal,
            weight=weight,
        )
    )
