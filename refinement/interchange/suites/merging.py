"""What changes between two sets of tasks, what an import would do, and how two edits are joined."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from refinement.interchange.suites.types import SuiteTaskText

Tasks: TypeAlias = Sequence[SuiteTaskText]


class ImportMode(StrEnum):
    """What happens to tasks that an imported file does not have."""

    MERGE = "merge"  # they stay
    REPLACE = "replace"  # they are removed


@dataclass(frozen=True, slots=True)
class Changes:
    """Tasks by what happened to them. A changed task is there before and after."""

    added: tuple[SuiteTaskText, ...] = ()
    removed: tuple[SuiteTaskText, ...] = ()
    changed: tuple[tuple[SuiteTaskText, SuiteTaskText], ...] = ()
    unchanged: int = 0
    reordered: bool = False  # tasks that are in both are in another order

    @property
    def any(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.reordered)


def changes_between(before: Tasks, after: Tasks) -> Changes:
    """What a version changed. Tasks are matched by key."""
    old, new = _by_key(before), _by_key(after)
    both = [key for key in new if key in old]
    return Changes(
        added=tuple(task for key, task in new.items() if key not in old),
        removed=tuple(task for key, task in old.items() if key not in new),
        changed=tuple((old[key], new[key]) for key in both if old[key] != new[key]),
        unchanged=sum(old[key] == new[key] for key in both),
        reordered=both != [key for key in old if key in new],
    )


def imported(existing: Tasks, given: Tasks, mode: ImportMode) -> tuple[SuiteTaskText, ...]:
    """The suite's tasks after an import: those with a known key are replaced, others are added at the end."""
    if mode is ImportMode.REPLACE:
        return tuple(given)
    new, known = _by_key(given), {task.key for task in existing}
    kept = [new.get(task.key, task) for task in existing]
    return (*kept, *(task for task in given if task.key not in known))


@dataclass(frozen=True, slots=True)
class Conflict:
    """A task that two edits left different. None if an edit removed it."""

    key: str
    mine: SuiteTaskText | None
    theirs: SuiteTaskText | None


@dataclass(frozen=True, slots=True)
class Merge:
    """Two edits of the same version, joined: their order, then what only I added."""

    tasks: tuple[SuiteTaskText, ...]
    conflicts: tuple[Conflict, ...]


def merged(base: Tasks, mine: Tasks, theirs: Tasks, keep_theirs: Collection[str] = ()) -> Merge:
    """Join two edits of `base`.

    A task that both changed is a conflict: mine counts, unless it is in `keep_theirs`.
    """
    old, my, their = _by_key(base), _by_key(mine), _by_key(theirs)
    conflicts: list[Conflict] = []
    chosen: dict[str, SuiteTaskText | None] = {}
    for key in dict.fromkeys((*their, *my, *old)):
        was, me, they = old.get(key), my.get(key), their.get(key)
        both_changed = me != was and they != was and me != they
        if both_changed:
            conflicts.append(Conflict(key, me, they))
        mine_counts = me != was and not (both_changed and key in keep_theirs)
        chosen[key] = me if mine_counts else they
    order = _order(old, my, their)
    tasks = tuple(task for key in order if (task := chosen[key]) is not None)
    return Merge(tasks, tuple(conflicts))


def _order(
    old: Mapping[str, SuiteTaskText], my: Mapping[str, SuiteTaskText], their: Mapping[str, SuiteTaskText]
) -> list[str]:
    """Every key: in the order of the edit that moved tasks, theirs if both did."""
    they_moved = [key for key in their if key in old] != [key for key in old if key in their]
    first, second = (their, my) if they_moved else (my, their)
    return list(dict.fromkeys((*first, *second, *old)))


def _by_key(tasks: Tasks) -> dict[str, SuiteTaskText]:
    return {task.key: task for task in tasks}
