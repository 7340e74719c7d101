"""Suites as YAML files, for version control. The output is deterministic and lossless."""

from collections.abc import Iterator, Sequence
from textwrap import dedent
from typing import Any

from refinement.engine.types import Check
from refinement.interchange.imports.fields import Missing, Notes, is_nothing
from refinement.interchange.rubrics.yaml_reading import BadFile, Fields, Items, Problem, Scalar, read_tree
from refinement.interchange.rubrics.yaml_writing import entry
from refinement.interchange.suites.reading import tasks_read
from refinement.interchange.suites.types import (
    DESCRIPTION_CHARS,
    MAX_BYTES,
    NAME_CHARS,
    SuiteTaskText,
    SuiteText,
    check_fields,
    line_cleaned,
    sources_json,
    text_cleaned,
)

FORMAT = "wiggum_suite"
FORMAT_VERSION = 1
MAX_NODES = 400_000
KEYS = {FORMAT: True, "name": True, "description": False, "tasks": False}
HEAD = (
    "A Wiggum suite: tasks that experiments run under several configurations.",
    "Edit it as text, keep it in git, and push it with `wiggum suite push`.",
)


def suite_to_yaml(suite: SuiteText) -> str:
    """The suite as a YAML file. Empty fields of a task are left out."""
    lines = [f"# {line}" for line in HEAD]
    lines += entry(FORMAT, FORMAT_VERSION)
    lines += entry("name", suite.name)
    if suite.description:
        lines += entry("description", suite.description)
    lines.append("")
    lines += entry("tasks", [task_fields(task) for task in suite.tasks])
    return "\n".join(lines) + "\n"


def task_fields(task: SuiteTaskText) -> dict[str, Any]:
    """A task's fields in their order, without empty ones."""
    return dict(_fields(task))


def _fields(task: SuiteTaskText) -> Iterator[tuple[str, Any]]:
    yield "key", task.key
    yield "title", task.title
    for name in ("task_type", "tags"):
        if value := getattr(task, name):
            yield name, list(value) if name == "tags" else value
    yield "task", task.task
    for name in ("seed", "expected"):
        if value := getattr(task, name):
            yield name, value
    if task.sources:
        yield "sources", sources_json(task.sources)
    if task.checks:
        yield "checks", [check_fields(check) for check in task.checks]


def checks_to_yaml(checks: Sequence[Check]) -> str:
    """Checks as a YAML list, as they are below `checks` in a file."""
    if not checks:
        return ""
    lines = entry("checks", [check_fields(check) for check in checks])
    return dedent("\n".join(list(lines)[1:])) + "\n"


def suite_from_yaml(source: str) -> SuiteText:
    """The suite in the file. Raises BadFile with all problems by line."""
    root = read_tree(source, "suite", max_bytes=MAX_BYTES, max_nodes=MAX_NODES)
    if FORMAT not in root.values:
        first = f"This is not a suite file: the line “{FORMAT}: {FORMAT_VERSION}” is missing."
        raise BadFile([Problem(1, first)])
    notes = Notes()
    suite = _read(notes, root)
    if notes.problems:
        raise BadFile(notes.problems)
    return suite


def _read(notes: Notes, root: Fields) -> SuiteText:
    notes.record(root, "a suite file", KEYS)
    version = root.values[FORMAT]
    if not (isinstance(version, Scalar) and version.text == str(FORMAT_VERSION)):
        notes.add(version.line, f"{FORMAT} must be {FORMAT_VERSION}, the only supported version.")
    texts: dict[str, str] = {}
    for name, most in (("name", NAME_CHARS), ("description", DESCRIPTION_CHARS)):
        if name in root.values:
            found = notes.text(root.values[name], name, most=most, needed=name == "name")
            texts[name] = "" if isinstance(found, Missing) else found
    tasks = root.values.get("tasks")
    nodes = tasks.values if isinstance(tasks, Items) else []
    if tasks is not None and not isinstance(tasks, Items) and not is_nothing(tasks):
        notes.add(tasks.line, "tasks must be a list.")
    return SuiteText(
        name=line_cleaned(texts.get("name", "")),
        description=text_cleaned(texts.get("description", "")),
        tasks=tasks_read(notes, nodes),
    )
