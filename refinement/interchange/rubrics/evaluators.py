"""Reads the evaluator and the output contract of a rubric file."""

from functools import partial

from refinement.engine.kinds import Handover
from refinement.engine.rubrics import LONGEST_EVALUATION, MOST_REPEATS, Evaluator, Metric
from refinement.interchange.imports.fields import MISSING, Missing, Notes, brief, is_nothing
from refinement.interchange.rubrics.records import (
    Key,
    Reader,
    choice,
    flag,
    parameters,
    read_record,
    record,
    text,
    whole,
)
from refinement.interchange.rubrics.yaml_reading import Node
from refinement.judging import contracts
from refinement.judging.checks.patterns import MAX_PATTERN_CHARS
from refinement.judging.evidence import pattern_problems, pointer_problems

MOST_PARTS, MOST_PART_CHARS = 60, 2_000  # of a command
MOST_PATTERNS, MOST_METRICS = 50, 20
METRIC_NAME_CHARS = 60


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


def output_patterns(notes: Notes, node: Node, name: str) -> object:
    """The patterns of complete failures, each checked at its line."""
    if is_nothing(node):
        return ()
    found = notes.each(node, name, partial(output_pattern, notes, None))
    if isinstance(found, Missing):
        return found
    if len(found) > MOST_PATTERNS:
        return notes.add(node.line, f"{name} has {len(found):,} patterns; {MOST_PATTERNS} are allowed.")
    return tuple(found)


def output_pattern(notes: Notes, groups: int | None, node: Node, name: str) -> str | Missing:
    """A pattern that is looked for in the evaluator's output."""
    found = notes.text(node, name, most=MAX_PATTERN_CHARS, needed=True)
    problems = [] if isinstance(found, Missing) else pattern_problems(found, groups=groups)
    for problem in problems:
        notes.add(node.line, f"{name}: {problem}")
    return MISSING if problems else found


def metric_pattern(notes: Notes, node: Node, name: str) -> object:
    return output_pattern(notes, 1, node, name)


def metric_pointer(notes: Notes, node: Node, name: str) -> object:
    found = notes.text(node, name, most=MAX_PATTERN_CHARS, needed=True)
    problems = [] if isinstance(found, Missing) else pointer_problems(found)
    for problem in problems:
        notes.add(node.line, f"{name}: {problem}")
    return MISSING if problems else found


METRIC = {
    "name": Key(text(METRIC_NAME_CHARS, needed=True), needed=True),
    "pattern": Key(metric_pattern),
    "pointer": Key(metric_pointer),
    "lower_is_better": Key(flag),
}


def metrics(notes: Notes, node: Node, name: str) -> object:
    """The metrics. A name that is used twice is reported at the second line."""
    if is_nothing(node):
        return ()
    names: set[str] = set()

    def metric(entry: Node, label: str) -> Metric | Missing:
        read = read_record(notes, entry, label, METRIC, Metric)
        if isinstance(read, Missing):
            return read
        if read.name in names:
            return notes.add(entry.line, f"The metric {brief(read.name)} is already there.")
        names.add(read.name)
        return read

    found = notes.each(node, name, metric)
    if isinstance(found, Missing):
        return found
    if len(found) > MOST_METRICS:
        return notes.add(node.line, f"{name} has {len(found):,} entries; {MOST_METRICS} are allowed.")
    return tuple(found)


def contract_schema(notes: Notes, node: Node, name: str) -> object:
    found = parameters(notes, node, name)
    if isinstance(found, dict) and found:
        for problem in contracts.schema_problems(found):
            notes.add(node.line, f"{name}: {problem}")
    return found


def contract_pattern(notes: Notes, node: Node, name: str) -> object:
    found = notes.text(node, name, most=MAX_PATTERN_CHARS)
    if isinstance(found, str) and found:
        for problem in contracts.pattern_problems(found):
            notes.add(node.line, f"{name}: {problem}")
    return found


EVALUATOR_KEYS = {
    "command": Key(command_parts),
    "handover": Key(choice(Handover)),
    "file_name": Key(text(60, needed=True)),
    "timeout": Key(whole(1, LONGEST_EVALUATION)),
    "repeat": Key(whole(1, MOST_REPEATS)),
    "validation": Key(command_parts),
    "failure_patterns": Key(output_patterns),
    "metrics": Key(metrics),
}
EVALUATOR: Reader = record(Evaluator, EVALUATOR_KEYS)
