"""What changed between two versions of a suite, task by task."""

from collections.abc import Iterator
from dataclasses import dataclass

from refinement.diffing.passages import WordDiff, word_diff
from refinement.interchange.suites.merging import Changes, changes_between
from refinement.interchange.suites.types import SuiteTaskText
from refinement.interchange.suites.yaml import checks_to_yaml
from refinement.models import SuiteVersion
from refinement.selectors.suites.tasks import tasks_of

MOST_SHOWN = 100  # tasks of each kind
LABELS = {
    "title": "Title",
    "task": "Task",
    "task_type": "Task type",
    "tags": "Tags",
    "seed": "Starting text",
    "expected": "Notes",
    "sources": "Sources",
    "checks": "Checks",
}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A changed field of a task as text, with the differing words if both sides have text."""

    label: str
    before: str
    after: str
    diff: WordDiff | None


@dataclass(frozen=True, slots=True)
class TaskChange:
    key: str
    title: str
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class SuiteComparison:
    """The changes, at most `MOST_SHOWN` of each kind."""

    changes: Changes
    changed: tuple[TaskChange, ...]

    @property
    def added(self) -> tuple[SuiteTaskText, ...]:
        return self.changes.added[:MOST_SHOWN]

    @property
    def removed(self) -> tuple[SuiteTaskText, ...]:
        return self.changes.removed[:MOST_SHOWN]

    @property
    def words(self) -> str:
        return change_words(self.changes)

    @property
    def left_out(self) -> int:
        """How many tasks are not shown."""
        kinds = (self.changes.added, self.changes.removed, self.changes.changed)
        return sum(max(0, len(kind) - MOST_SHOWN) for kind in kinds)


def versions_compared(before: SuiteVersion, after: SuiteVersion) -> SuiteComparison:
    """What `after` changed. Two queries."""
    return tasks_compared(tasks_of(before), tasks_of(after))


def tasks_compared(before: tuple[SuiteTaskText, ...], after: tuple[SuiteTaskText, ...]) -> SuiteComparison:
    changes = changes_between(before, after)
    changed = tuple(
        TaskChange(new.key, new.title, tuple(field_changes(old, new)))
        for old, new in changes.changed[:MOST_SHOWN]
    )
    return SuiteComparison(changes, changed)


def field_changes(old: SuiteTaskText, new: SuiteTaskText) -> Iterator[FieldChange]:
    """The fields that differ, in the order of the editor."""
    for name, label in LABELS.items():
        before, after = field_text(old, name), field_text(new, name)
        if before != after:
            diff = word_diff(before, after) if before and after else None
            yield FieldChange(label, before, after, diff)


def field_text(task: SuiteTaskText, name: str) -> str:
    """A field as people read it."""
    if name == "tags":
        return ", ".join(task.tags)
    if name == "sources":
        return "\n\n".join(f"{source.name}\n{source.text}" for source in task.sources)
    if name == "checks":
        return checks_to_yaml(task.checks)
    return str(getattr(task, name))


def change_words(changes: Changes) -> str:
    """Such as `2 added, 1 changed`."""
    counted = (
        (len(changes.added), "added"),
        (len(changes.removed), "removed"),
        (len(changes.changed), "changed"),
    )
    words = [f"{count:,} {verb}" for count, verb in counted if count]
    if changes.reordered:
        words.append("order changed")
    return ", ".join(words) or "no changes"
