"""The table of a suite's tasks as a form: rows from a version, rows from a request, and what they say.

The form has a window of the tasks. Tasks outside it and texts that the table does not have stay as they are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.http import QueryDict

from refinement.forms.suites.words import field_message
from refinement.interchange.imports.fields import Notes
from refinement.interchange.rubrics.yaml_reading import Fields, Scalar
from refinement.interchange.suites.reading import TaskReader
from refinement.interchange.suites.types import SuiteTaskText

WINDOW = 100  # tasks of one page
MOST_ROWS = 300
NEW_ROWS = 3  # offered in an empty table
LONG_CHARS = 4_000  # longer texts are edited on the task's own page
SHORT = ("key", "title", "task_type", "tags")
LONG = ("task", "expected")
FIELDS = (*SHORT, *LONG)


@dataclass(slots=True)
class Row:
    """A row of the table. `was` is the key of the task that it shows or was copied from."""

    number: int
    place: str
    was: str = ""
    copied: bool = False
    values: dict[str, str] = field(default_factory=dict)  # without texts that are too long for the table
    lengths: dict[str, int] = field(default_factory=dict)  # of those texts
    extras: Sequence[str] = ()
    removed: bool = False
    errors: dict[str, list[str]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"task-{self.number}"

    @property
    def title(self) -> str:
        return self.values.get("title") or self.was or "New task"

    @property
    def is_blank(self) -> bool:
        return not self.was and not any(value.strip() for value in self.values.values())

    @property
    def other_errors(self) -> list[str]:
        return [message for name, found in self.errors.items() if name not in FIELDS for message in found]


def extras_of(task: SuiteTaskText) -> list[str]:
    """What the task has that is not in the table."""
    words = ["starting text"] if task.seed else []
    for entries, noun in ((task.sources, "source"), (task.checks, "check")):
        if entries:
            words.append(f"{len(entries)} {noun}{'' if len(entries) == 1 else 's'}")
    return words


def row_of(task: SuiteTaskText, number: int, place: int) -> Row:
    """A task as a row."""
    texts = {
        "key": task.key,
        "title": task.title,
        "task_type": task.task_type,
        "tags": ", ".join(task.tags),
        "task": task.task,
        "expected": task.expected,
    }
    long = {name: len(text) for name, text in texts.items() if name in LONG and len(text) > LONG_CHARS}
    return Row(
        number=number,
        place=str(place),
        was=task.key,
        values={name: text for name, text in texts.items() if name not in long},
        lengths=long,
        extras=extras_of(task),
    )


def rows_of(tasks: Iterable[SuiteTaskText]) -> list[Row]:
    return [row_of(task, place, place) for place, task in enumerate(tasks, 1)]


def blank_row(rows: Sequence[Row]) -> Row:
    """A new row at the end."""
    return Row(next_number(rows), str(len(rows) + 1), values=dict.fromkeys(FIELDS, ""))


def next_number(rows: Sequence[Row]) -> int:
    return max((row.number for row in rows), default=0) + 1


def rows_sent(data: QueryDict, base: Mapping[str, SuiteTaskText]) -> list[Row]:
    """The rows of a request in the order of their places, at most `MOST_ROWS`."""
    numbers = sorted({number for name in data if (number := _number(name)) is not None})[:MOST_ROWS]
    rows = [_sent(data, number, base) for number in numbers]
    return sorted(rows, key=lambda row: (_place(row.place), row.number))


def _number(name: str) -> int | None:
    start, _, rest = name.partition("-")
    number, _, part = rest.partition("-")
    known = start == "task" and part == "order" and number.isascii() and number.isdigit()
    return int(number) if known and len(number) < 7 else None


def _sent(data: QueryDict, number: int, base: Mapping[str, SuiteTaskText]) -> Row:
    def value(name: str) -> str | None:
        return data.get(f"task-{number}-{name}")

    was = value("was") or ""
    values = {name: text for name in FIELDS if (text := value(name)) is not None}
    task = base.get(was)
    shown = row_of(task, number, 0) if task else Row(number, "")
    return Row(
        number=number,
        place=value("order") or "",
        was=was if task else "",
        copied=value("copied") == "1",
        values=values,
        lengths={name: chars for name, chars in shown.lengths.items() if name not in values},
        extras=shown.extras,
        removed=value("remove") is not None,
    )


def _place(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("inf")


def row_copied(rows: Sequence[Row], number: int) -> list[Row]:
    """The rows with a copy after the one with this number, without a key of its own."""
    made: list[Row] = []
    for row in rows:
        made.append(row)
        if row.number == number:
            values = {**row.values, "key": ""}
            copy = replace(
                row, number=next_number(rows), copied=True, values=values, removed=False, errors={}
            )
            made.append(copy)
    return renumbered(made)


def renumbered(rows: Sequence[Row]) -> list[Row]:
    """The rows that are not removed, with places from 1."""
    kept = [row for row in rows if not row.removed]
    for place, row in enumerate(kept, 1):
        row.place = str(place)
    return kept


@dataclass(slots=True)
class TableRead:
    """The tasks of the window as the form has them; None if something is wrong, which is on the rows."""

    tasks: tuple[SuiteTaskText, ...] | None
    rows: list[Row]

    @property
    def problems(self) -> Iterator[tuple[str, str, str]]:
        """Every problem as (id of the field, title of the row, message)."""
        for row in self.rows:
            for name, messages in row.errors.items():
                for message in messages:
                    yield f"{row.id}-{name if name in FIELDS else 'key'}", row.title, message


def table_read(
    rows: Sequence[Row], base: Mapping[str, SuiteTaskText], outside: Iterable[str], start: int
) -> TableRead:
    """Read the rows. `outside` are the keys of the suite's other tasks, `start` how many come before."""
    kept = [row for row in rows if not row.removed and not row.is_blank]
    notes, spots = Notes(), Spots()
    given = {row.values.get("key", "").strip() for row in kept} | set(outside)
    reader = TaskReader(notes, given, spots.words)
    reader.lines.update(dict.fromkeys(outside, 0))
    tasks: list[SuiteTaskText] = []
    for place, row in enumerate(kept, 1):
        was = base.get(row.was)
        task = reader.task(spots.node(row, place + start, was), place + start)
        if task is not None:
            tasks.append(
                replace(task, seed=was.seed, sources=was.sources, checks=was.checks) if was else task
            )
    for problem in notes.problems:
        row, name = spots.found[problem.line]
        message = field_message(problem.message, spots.places[problem.line])
        row.errors.setdefault(name, []).append(message)
    return TableRead(None if notes.problems else tuple(tasks), list(rows))


class Spots:
    """Gives each field of the form a line number, so that problems find their field again."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[Row, str]] = {}
        self.places: dict[int, int] = {}

    def node(self, row: Row, place: int, was: SuiteTaskText | None) -> Fields:
        line = self._line(row, "row", place)
        values: dict[str, Any] = {}
        for name in FIELDS:
            text = row.values.get(name)
            if text is None:
                text = getattr(was, name) if was is not None and name in LONG else ""
            values[name] = Scalar(self._line(row, name, place), text, plain=False)
        return Fields(line, values, {name: node.line for name, node in values.items()})

    def words(self, line: int) -> str:
        return f"by task {self.places[line]}" if line else "by another task of this suite"

    def _line(self, row: Row, name: str, place: int) -> int:
        line = len(self.found) + 1
        self.found[line], self.places[line] = (row, name), place
        return line
