"""A whole task as a form: its texts, sources and checks. Checks are written as YAML, as in a suite's file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.http import QueryDict

from refinement.forms.suites.words import field_message
from refinement.interchange.imports.fields import Notes
from refinement.interchange.rubrics.yaml_reading import (
    BadFile,
    Fields,
    Items,
    Node,
    Problem,
    Scalar,
    read_tree,
)
from refinement.interchange.suites.reading import TaskReader
from refinement.interchange.suites.types import SuiteTaskText
from refinement.interchange.suites.yaml import checks_to_yaml
from refinement.judging.sources import MOST_SOURCES

TEXTS = ("key", "title", "task_type", "tags", "task", "seed", "expected")
CHECKS_FROM = 100_000  # lines of the checks follow this number
CHECK_EXAMPLE = """\
- key: names-the-command
  kind: contains
  parameters:
    text: wiggum backup
"""


@dataclass(slots=True)
class SourceRow:
    """A source of the form; the last one is blank."""

    number: int
    name: str = ""
    text: str = ""


@dataclass(slots=True)
class TaskFields:
    """The form's values, and what is wrong with them by field."""

    values: dict[str, str]
    sources: list[SourceRow]
    checks: str
    errors: dict[str, list[str]] = field(default_factory=dict)

    @property
    def problems(self) -> list[tuple[str, str]]:
        return [(name, message) for name, messages in self.errors.items() for message in messages]


def fields_of(task: SuiteTaskText | None) -> TaskFields:
    """A task as form values; empty ones for a new task."""
    if task is None:
        return TaskFields(dict.fromkeys(TEXTS, ""), with_blank([]), "")
    values = {name: getattr(task, name) for name in TEXTS} | {"tags": ", ".join(task.tags)}
    sources = [SourceRow(number, one.name, one.text) for number, one in enumerate(task.sources, 1)]
    return TaskFields(values, with_blank(sources), checks_to_yaml(task.checks))


def with_blank(rows: list[SourceRow]) -> list[SourceRow]:
    """The rows, and one to fill in if there may be more."""
    number = max((row.number for row in rows), default=0) + 1
    return [*rows, SourceRow(number)] if len(rows) < MOST_SOURCES else rows


def fields_sent(data: QueryDict) -> TaskFields:
    """The form values of a request."""
    values = {name: data.get(name, "") for name in TEXTS}
    rows = [
        SourceRow(number, data.get(f"source-{number}-name", ""), data.get(f"source-{number}-text", ""))
        for number in range(1, MOST_SOURCES + 2)
        if f"source-{number}-text" in data and f"source-{number}-remove" not in data
    ]
    filled = [row for row in rows if row.name.strip() or row.text.strip()]
    return TaskFields(values, with_blank(filled), data.get("checks", ""))


def task_read(fields: TaskFields, others: Iterable[str]) -> SuiteTaskText | None:
    """The task; None if something is wrong, which is in `fields.errors` then. `others` are taken keys."""
    notes = Notes()
    taken = set(others)
    reader = TaskReader(notes, taken, lambda line: "by another task of this suite")
    reader.lines.update(dict.fromkeys(taken, 0))
    lines = dict(enumerate(TEXTS, 1))
    values: dict[str, Node] = {
        name: Scalar(line, fields.values[name], plain=False) for line, name in lines.items()
    }
    sources_line, checks_line = len(lines) + 1, len(lines) + 2
    lines |= {sources_line: "sources", checks_line: "checks"}
    filled = [row for row in fields.sources if row.name.strip() or row.text.strip()]
    values["sources"] = Items(sources_line, [source_node(row, sources_line) for row in filled])
    checks = checks_node(notes, fields.checks)
    if checks is not None:
        values["checks"] = checks
    task = reader.task(Fields(len(lines) + 3, values, {}), 1)
    for problem in notes.problems:
        name, message = placed(problem, lines)
        fields.errors.setdefault(name, []).append(message)
    return None if notes.problems else task


def source_node(row: SourceRow, line: int) -> Node:
    texts = {"name": row.name, "text": row.text}
    return Fields(line, {name: Scalar(line, text, plain=False) for name, text in texts.items()})


def checks_node(notes: Notes, text: str) -> Node | None:
    """The checks as a tree whose lines are after `CHECKS_FROM`; None without checks."""
    if not text.strip():
        return None
    try:
        root = read_tree("checks:\n" + text.replace("\r\n", "\n"), "list of checks")
    except BadFile as bad:
        notes.problems += [Problem(CHECKS_FROM + problem.line, problem.message) for problem in bad.problems]
        return None
    if set(root.values) != {"checks"}:
        notes.add(CHECKS_FROM + 2, "Write a list: each check starts with a dash.")
        return None
    shift(root.values["checks"])
    return root.values["checks"]


def shift(node: Node) -> None:
    node.line += CHECKS_FROM
    if isinstance(node, Fields):
        node.lines = {key: line + CHECKS_FROM for key, line in node.lines.items()}
    inner = node.values.values() if isinstance(node, Fields) else getattr(node, "values", ())
    for value in inner:
        shift(value)


def placed(problem: Problem, lines: Mapping[int, str]) -> tuple[str, str]:
    """The field of a problem, and its message without the words that only a file needs."""
    message = field_message(problem.message, 1)
    if problem.line < CHECKS_FROM:
        return lines.get(problem.line, "task"), message
    line = problem.line - CHECKS_FROM - 1  # without the line that names the list
    return "checks", f"Line {line}: {message}" if line > 0 else message
