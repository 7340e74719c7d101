"""The tasks of a suite as plain data, their limits, and how their texts are stored.

Two equal suites are equal as data: titles, labels and tags have one spelling, line ends are plain.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from refinement.engine.types import Check, Severity
from refinement.judging.length import shorten
from refinement.judging.sources import SourceText
from refinement.texts import storable

MAX_BYTES = 10_000_000  # of a file
MOST_TASKS = 2_000
MOST_TEXT_CHARS = 200_000  # of a task, its starting text or its notes
MOST_CHARS_TOGETHER = 8_000_000  # of all texts of a suite
MOST_CHECKS = 20  # of one task
NAME_CHARS = 160
DESCRIPTION_CHARS = 4_000
# The same as for runs, which a test compares.
TITLE_CHARS = 160
TASK_TYPE_CHARS = 50
MOST_TAGS = 20
TAG_CHARS = 50
KEY_CHARS = 80
MADE_KEY_CHARS = 40
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
KEY_RULE = f"letters, digits, '.', '_' and '-', at most {KEY_CHARS}"
FIELDS = ("key", "title", "task", "task_type", "tags", "seed", "expected", "sources", "checks")


@dataclass(frozen=True, slots=True)
class SuiteTaskText:
    """A task of a suite. `key` identifies it across versions; the other fields are what a run gets.

    `expected` is for people: what a good result has. Nothing of it is put into a prompt.
    """

    key: str
    title: str
    task: str
    task_type: str = ""
    tags: tuple[str, ...] = ()
    seed: str = ""
    expected: str = ""
    sources: tuple[SourceText, ...] = ()
    checks: tuple[Check, ...] = ()

    @property
    def chars(self) -> int:
        own = len(self.task) + len(self.seed) + len(self.expected)
        return own + sum(len(source.text) for source in self.sources)


@dataclass(frozen=True, slots=True)
class SuiteText:
    """A suite as its file has it."""

    name: str
    description: str = ""
    tasks: tuple[SuiteTaskText, ...] = ()


def text_cleaned(text: str) -> str:
    """A long text as it is stored: plain line ends, and empty if it is blank."""
    plain = storable(text).replace("\r\n", "\n").replace("\r", "\n")
    return plain if plain.strip() else ""


def line_cleaned(text: str) -> str:
    """A short text as it is stored: one line."""
    return " ".join(storable(text).split())


def tags_cleaned(names: Iterable[str]) -> tuple[str, ...]:
    """Tags split at commas, trimmed, sorted and without duplicates, as runs have them."""
    parts = (line_cleaned(part) for name in names for part in name.split(","))
    return tuple(sorted({name for name in parts if name}))


def title_of(task: str) -> str:
    """The first line of the task that has text, without Markdown marks."""
    first = next((line.strip() for line in task.splitlines() if line.strip(" #*->`")), task.strip())
    return line_cleaned(shorten(first.lstrip("#*->` ") or first, TITLE_CHARS))


def key_for(title: str, taken: Iterable[str]) -> str:
    """A free key made from a title, such as `restore-a-backup`."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    base = plain or "task"
    if len(base) > MADE_KEY_CHARS:  # cut between words if there are any
        base = base[: MADE_KEY_CHARS + 1].rpartition("-")[0] or base[:MADE_KEY_CHARS]
    used = set(taken)
    if base not in used:
        return base
    return next(key for number in range(2, len(used) + 3) if (key := f"{base}-{number}") not in used)


def sources_json(sources: Sequence[SourceText]) -> list[dict[str, str]]:
    return [{"name": source.name, "text": source.text} for source in sources]


def check_fields(check: Check) -> dict[str, Any]:
    """A check as files have it, with its parameters in a fixed order."""
    return {
        "key": check.key,
        "kind": check.kind,
        "parameters": _sorted(check.parameters),
        "severity": check.severity.value,
        "weight": check.weight,
        "suggestion": check.suggestion,
    }


def check_json(check: Check) -> dict[str, Any]:
    """A check as the database has it. `check_from_json` gives the check again."""
    return {**check_fields(check), "weight": str(check.weight)}


def check_from_json(data: Mapping[str, Any]) -> Check:
    return Check(
        key=data["key"],
        kind=data["kind"],
        parameters=data["parameters"],
        severity=Severity(data["severity"]),
        weight=Decimal(data["weight"]),
        suggestion=data["suggestion"],
    )


def _sorted(value: Any) -> Any:
    """The value with sorted keys, because databases may not keep their order."""
    if hasattr(value, "items"):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(inner) for inner in value] if isinstance(value, (list, tuple)) else value
