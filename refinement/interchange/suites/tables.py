"""Tasks as CSV and as JSON Lines: one task on a line, and nothing of the suite itself."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from refinement.interchange.exports.rows import Line, is_formula
from refinement.interchange.imports.fields import Notes, brief
from refinement.interchange.rubrics.yaml_reading import BadFile, Node, Problem
from refinement.interchange.suites.reading import node_of, tasks_read, without_problems
from refinement.interchange.suites.types import (
    FIELDS,
    MAX_BYTES,
    SuiteTaskText,
    check_fields,
    sources_json,
)
from refinement.interchange.suites.yaml import task_fields

JSON_COLUMNS = ("sources", "checks")
ALIASES = {
    "id": "key",
    "name": "title",
    "prompt": "task",
    "input": "task",
    "type": "task_type",
    "starting_text": "seed",
    "expected_output": "expected",
    "notes": "expected",
}
DELIMITERS = (",", ";", "\t")


def tasks_to_csv(tasks: Iterable[SuiteTaskText]) -> Iterator[str]:
    """One row per task; sources and checks are JSON. Cells are escaped so that none is a formula."""
    writer = csv.writer(Line())
    yield writer.writerow(FIELDS)
    for task in tasks:
        yield writer.writerow([escaped(cell) for cell in _cells(task)])


def _cells(task: SuiteTaskText) -> Iterator[str]:
    for name in FIELDS:
        if name == "tags":
            yield ", ".join(task.tags)
        elif name == "sources":
            yield as_json(sources_json(task.sources)) if task.sources else ""
        elif name == "checks":
            yield as_json([check_fields(check) for check in task.checks]) if task.checks else ""
        else:
            yield getattr(task, name)


def escaped(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula; `unescaped` gives the text again."""
    return f"'{text}" if is_formula(text.lstrip("'")) else text


def unescaped(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and is_formula(cell.lstrip("'")) else cell


def tasks_to_jsonl(tasks: Iterable[SuiteTaskText]) -> Iterator[str]:
    """One JSON object per line, with the keys of the YAML file."""
    for task in tasks:
        yield f"{as_json(task_fields(task))}\n"


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_number)


def _number(value: object) -> float | int:
    assert isinstance(value, Decimal)
    return int(value) if value == value.to_integral_value() else float(value)


def tasks_from_jsonl(source: str) -> tuple[SuiteTaskText, ...]:
    """The tasks in the file. Raises BadFile with all problems by line."""
    _refuse_large(source)
    notes = Notes()
    nodes: list[Node] = []
    for number, line in enumerate(source.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        try:
            nodes.append(node_of(json.loads(line), number))
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
            notes.add(number, f"This line is not a JSON object: {reason}.")
    if not nodes and not notes.problems:
        notes.add(1, "The file has no tasks.")
    return without_problems(notes, tasks_read(notes, nodes))


def tasks_from_csv(source: str) -> tuple[tuple[SuiteTaskText, ...], list[Problem]]:
    """The tasks in the file, and notes about columns that are not used.

    The first line names the columns. Raises BadFile with all problems by line.
    """
    _refuse_large(source)
    rows = list(_rows(source.removeprefix("\ufeff")))
    if not rows:
        raise BadFile([Problem(1, "The file is empty.")])
    (line, head), *body = rows
    notes = Notes()
    columns, unused = _columns(notes, line, head)
    without_problems(notes, ())
    nodes: list[Node] = []
    for number, cells in body:
        if any(cell.strip() for cell in cells):
            if any(cell.strip() for cell in cells[len(head) :]):
                notes.add(number, "This row has more cells than there are columns. Is a quote missing?")
            nodes.append(_row(notes, number, columns, cells))
    if not nodes and not notes.problems:
        notes.add(line, "The file has no tasks below its column names.")
    return without_problems(notes, tasks_read(notes, nodes)), unused


def _rows(source: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line it starts on."""
    csv.field_size_limit(MAX_BYTES)  # the default is smaller than the texts that are allowed
    first = source.partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(source, newline=""), delimiter=delimiter, strict=True)
    start = 1
    try:
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise BadFile([Problem(start, f"This is not valid CSV: {error}.")]) from None


def _columns(notes: Notes, line: int, head: Sequence[str]) -> tuple[dict[int, str], list[Problem]]:
    columns: dict[int, str] = {}
    unused: list[Problem] = []
    for place, cell in enumerate(head):
        plain = "_".join(cell.strip().lower().split())
        name = plain if plain in FIELDS else ALIASES.get(plain, "")
        if not name:
            if plain:
                unused.append(Problem(line, f"The column {brief(cell.strip())} is not used."))
        elif name in columns.values():
            notes.add(line, f"Two columns are {name}: rename or remove {brief(cell.strip())}.")
        else:
            columns[place] = name
    if "task" not in columns.values():
        notes.add(line, f"The first line has no column “task”. Columns: {', '.join(FIELDS)}.")
    return columns, unused


def _row(notes: Notes, line: int, columns: dict[int, str], cells: Sequence[str]) -> Node:
    """A row's cells as a task's fields. Empty cells are left out."""
    values: dict[str, Any] = {}
    for place, name in columns.items():
        cell = unescaped(cells[place]) if place < len(cells) else ""
        if not cell.strip():
            continue
        values[name] = _json(notes, line, name, cell) if name in JSON_COLUMNS else cell
    return node_of(values, line)


def _json(notes: Notes, line: int, name: str, cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        notes.add(line, f"{name} must be a JSON list, as an export writes it.")
        return []


def _refuse_large(source: str) -> None:
    if len(source.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise BadFile([Problem(1, f"The file is larger than the limit of {MAX_BYTES:,} bytes.")])
