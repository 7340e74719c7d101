"""Reads tasks from a tree with line numbers, which YAML, JSON Lines, CSV and forms are converted to.

All problems are reported at once, each with its line.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from refinement.engine.types import Check
from refinement.interchange.imports.fields import MISSING, Missing, Notes, brief, is_nothing
from refinement.interchange.rubrics.reading import CHECK
from refinement.interchange.rubrics.records import Key, read_record, text
from refinement.interchange.rubrics.yaml_reading import MAX_DEPTH, BadFile, Fields, Items, Node, Scalar
from refinement.interchange.suites.types import (
    FIELDS,
    KEY,
    KEY_RULE,
    MOST_CHARS_TOGETHER,
    MOST_CHECKS,
    MOST_TAGS,
    MOST_TASKS,
    MOST_TEXT_CHARS,
    TAG_CHARS,
    TASK_TYPE_CHARS,
    TITLE_CHARS,
    SuiteTaskText,
    check_fields,
    key_for,
    line_cleaned,
    tags_cleaned,
    text_cleaned,
    title_of,
)
from refinement.judging.checks import check_problems
from refinement.judging.isolation import time_limit
from refinement.judging.sources import MOST_NAME_CHARS, BadSource, SourceText, sources_cleaned
from refinement.texts import label

TASK_KEYS = dict.fromkeys(FIELDS, False)
CHECKS_SECONDS = 10.0  # of processor time for all checks of a suite
SOURCE = {"name": Key(text(MOST_NAME_CHARS)), "text": Key(text(MOST_TEXT_CHARS, needed=True), needed=True)}


def on_line(line: int) -> str:
    return f"on line {line}"


def of_task(place: int) -> str:
    return f"by task {place}"


def node_of(value: Any, line: int, depth: int = 0) -> Node:
    """A JSON value as a tree, all of it on one line. Raises ValueError if it is nested too deeply."""
    if depth > MAX_DEPTH:
        raise ValueError("it is nested too deeply")
    if isinstance(value, Mapping):
        fields = {str(key): node_of(inner, line, depth + 1) for key, inner in value.items()}
        return Fields(line, fields, dict.fromkeys(fields, line))
    if isinstance(value, (list, tuple)):
        return Items(line, [node_of(inner, line, depth + 1) for inner in value])
    if isinstance(value, str):
        return Scalar(line, value, plain=False)
    return Scalar(line, json.dumps(value, default=str), plain=True)


def tasks_read(
    notes: Notes, nodes: Sequence[Node], spot: Callable[[int], str] = on_line
) -> tuple[SuiteTaskText, ...]:
    """The tasks that could be read; problems are added to the notes."""
    if len(nodes) > MOST_TASKS:
        notes.add(
            nodes[MOST_TASKS].line,
            f"The suite has {len(nodes):,} tasks; {MOST_TASKS:,} are allowed. Split it into several suites.",
        )
        nodes = nodes[:MOST_TASKS]
    reader = TaskReader(notes, given_keys(nodes), spot)
    with time_limit(CHECKS_SECONDS):
        tasks = [reader.task(node, place) for place, node in enumerate(nodes, 1)]
    found = tuple(task for task in tasks if task is not None)
    total = sum(task.chars for task in found)
    if total > MOST_CHARS_TOGETHER:
        notes.add(
            1,
            f"The texts have {total:,} characters together; {MOST_CHARS_TOGETHER:,} are allowed. "
            "Shorten sources, or split the suite.",
        )
    return found


def given_keys(nodes: Iterable[Node]) -> set[str]:
    """The keys that tasks name themselves; made keys avoid them."""
    named = (node.values.get("key") for node in nodes if isinstance(node, Fields))
    return {node.text.strip() for node in named if isinstance(node, Scalar)}


def without_problems(notes: Notes, tasks: tuple[SuiteTaskText, ...]) -> tuple[SuiteTaskText, ...]:
    """The tasks. Raises BadFile if a problem was found."""
    if notes.problems:
        raise BadFile(notes.problems)
    return tasks


def tasks_from_values(values: Sequence[Mapping[str, Any]]) -> tuple[SuiteTaskText, ...]:
    """Tasks from JSON values, validated. Raises BadFile; a problem's line is the place of its task."""
    notes = Notes()
    nodes: list[Node] = []
    for place, value in enumerate(values, 1):
        try:
            nodes.append(node_of(value, place))
        except ValueError as error:
            notes.add(place, f"task {place} cannot be read: {error}.")
    return without_problems(notes, tasks_read(notes, nodes, of_task))


class TaskReader:
    """Reads the tasks of one suite. Keys are unique, and equal checks are validated once."""

    def __init__(self, notes: Notes, given: set[str], spot: Callable[[int], str] = on_line) -> None:
        self.notes = notes
        self.given = given
        self.spot = spot  # words for a line, such as "on line 4"
        self.lines: dict[str, int] = {}  # of each key
        self.checked: dict[str, list[str]] = {}

    def task(self, node: Node, place: int) -> SuiteTaskText | None:
        name = f"task {place}"
        record = self.notes.record(node, name, TASK_KEYS)
        if isinstance(record, Missing):
            return None
        before = len(self.notes.problems)
        task = self.text(record, "task", name).strip()
        if not task and len(self.notes.problems) == before:
            where = record.values["task"].line if "task" in record.values else record.line
            self.notes.add(where, f"{name} has no task text. Say what the model should do.")
        title = self.line(record, "title", name, TITLE_CHARS) or title_of(task)
        made = SuiteTaskText(
            key=self.key(record, name, title),
            title=title,
            task=task,
            task_type=label(self.line(record, "task_type", name, TASK_TYPE_CHARS)),
            tags=self.tags(record, name),
            seed=self.text(record, "seed", name),
            expected=self.text(record, "expected", name),
            sources=self.sources(record, name),
            checks=self.checks(record, name),
        )
        return made if len(self.notes.problems) == before else None

    def text(self, record: Fields, field: str, name: str) -> str:
        node = record.values.get(field)
        if node is None:
            return ""
        found = self.notes.text(node, f"{field} in {name}", most=MOST_TEXT_CHARS)
        return "" if isinstance(found, Missing) else text_cleaned(found)

    def line(self, record: Fields, field: str, name: str, most: int) -> str:
        text = line_cleaned(self.text(record, field, name))
        if len(text) > most:
            message = f"{field} in {name} has {len(text):,} characters; {most} are allowed."
            self.notes.add(record.values[field].line, message)
        return text

    def key(self, record: Fields, name: str, title: str) -> str:
        """The task's own key, or one made from its title."""
        key = self.line(record, "key", name, MOST_TEXT_CHARS)
        if not key:
            made = key_for(title, {*self.given, *self.lines})
            self.lines[made] = record.line
            return made
        line = record.values["key"].line
        if not KEY.fullmatch(key):
            self.notes.add(line, f"key in {name} must be made of {KEY_RULE}, not {brief(key)}.")
        elif key in self.lines:
            self.notes.add(line, f"The key {key!r} is already used {self.spot(self.lines[key])}.")
        else:
            self.lines[key] = line
        return key

    def tags(self, record: Fields, name: str) -> tuple[str, ...]:
        node = record.values.get("tags")
        if node is None:
            return ()

        def tag(entry: Node, where: str) -> str | Missing:
            return self.notes.text(entry, where, most=MOST_TEXT_CHARS)

        where = f"tags in {name}"
        read = [tag(node, where)] if isinstance(node, Scalar) else self.notes.each(node, where, tag)
        if isinstance(read, Missing):
            return ()
        tags = tags_cleaned(entry for entry in read if isinstance(entry, str))
        if len(tags) > MOST_TAGS:
            self.notes.add(node.line, f"{name} has {len(tags)} tags; {MOST_TAGS} are allowed.")
        for entry in tags:
            if len(entry) > TAG_CHARS:
                self.notes.add(
                    node.line, f"The tag {brief(entry)} in {name} is longer than {TAG_CHARS} characters."
                )
        return tags

    def sources(self, record: Fields, name: str) -> tuple[SourceText, ...]:
        node = record.values.get("sources")
        if is_nothing(node) or node is None:
            return ()

        def source(entry: Node, where: str) -> SourceText | Missing:
            return read_record(self.notes, entry, where, SOURCE, lambda text, name="": SourceText(name, text))

        read = self.notes.each(node, f"sources in {name}", source)
        if isinstance(read, Missing):
            return ()
        try:
            return sources_cleaned(read)
        except BadSource as problem:
            self.notes.add(node.line, f"sources in {name}: {problem}")
            return ()

    def checks(self, record: Fields, name: str) -> tuple[Check, ...]:
        node = record.values.get("checks")
        if is_nothing(node) or node is None:
            return ()
        read = self.notes.each(node, f"checks in {name}", self.check)
        if isinstance(read, Missing):
            return ()
        if len(read) > MOST_CHECKS:
            self.notes.add(node.line, f"{name} has {len(read)} checks; {MOST_CHECKS} are allowed.")
        seen: set[str] = set()
        for check in read:
            if check.key in seen:
                self.notes.add(node.line, f"Two checks in {name} have the key {brief(check.key)}.")
            seen.add(check.key)
        return tuple(read)

    def check(self, node: Node, name: str) -> Check | Missing:
        if isinstance(node, Fields) and "key" not in node.values and "kind" in node.values:
            kind = node.values["kind"]
            node = replace(node, values={"key": kind, **node.values})
        found = read_record(self.notes, node, name, CHECK, Check)
        if isinstance(found, Missing):
            return MISSING
        found = replace(found, suggestion=text_cleaned(found.suggestion), key=line_cleaned(found.key))
        content = json.dumps({**check_fields(found), "key": "", "weight": "", "suggestion": ""}, default=str)
        if content not in self.checked:
            self.checked[content] = check_problems(found)
        for problem in self.checked[content]:
            self.notes.add(node.line, f"{name} ({brief(found.key)}): {problem}")
        return MISSING if self.checked[content] else found
