"""Make tasks of a suite from runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction

from refinement.interchange.suites.types import (
    MOST_CHARS_TOGETHER,
    MOST_TEXT_CHARS,
    SuiteTaskText,
    key_for,
    tags_cleaned,
    text_cleaned,
    title_of,
)
from refinement.judging.sources import SourceText
from refinement.models import Project, Run, Suite, SuiteVersion, User
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.suites.tasks import tasks_of
from refinement.services.suites.editing import newest_locked, suite_create, version_save

MOST_RUNS = 200  # at once, as in the run list
LEAN = ("project", "title", "task_type", "task", "seed")


@dataclass(slots=True)
class Collected:
    """The version with the added tasks, their keys, and a message for each run that was not added."""

    version: SuiteVersion | None = None
    keys: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@transaction.atomic
def runs_add(*, suite: Suite, numbers: Sequence[int], user: User) -> Collected:
    """Add a task for each run at the end of the suite, as its next version.

    A run whose task and starting text are in the suite already is not added again.
    """
    newest = newest_locked(suite)
    existing = tasks_of(newest)
    found = collected(suite.project, numbers, existing)
    if found.tasks:
        found.answer.version = version_save(
            suite=suite,
            tasks=(*existing, *found.tasks),
            edited_from=newest.number,
            user=user,
            note=note_for(len(found.tasks)),
            from_runs=found.runs,
        )
    return found.answer


@transaction.atomic
def suite_from_runs(*, project: Project, name: str, numbers: Sequence[int], user: User) -> Collected:
    """Create a suite with a task for each run. Nothing is created if no run can be added.

    Raises ValidationError.
    """
    found = collected(project, numbers, ())
    if found.tasks:
        found.answer.version = suite_create(
            project=project,
            name=name,
            tasks=found.tasks,
            user=user,
            note=note_for(len(found.tasks)),
            from_runs=found.runs,
        )
    return found.answer


def note_for(count: int) -> str:
    return "Added a task from a run." if count == 1 else f"Added {count} tasks from runs."


@dataclass(slots=True)
class Found:
    """New tasks, the run of each by key, and what to answer."""

    tasks: list[SuiteTaskText] = field(default_factory=list)
    runs: dict[str, int] = field(default_factory=dict)
    answer: Collected = field(default_factory=Collected)


def collected(project: Project, numbers: Sequence[int], existing: Sequence[SuiteTaskText]) -> Found:
    """A task for each run that is not in the suite yet, in the given order."""
    found = Found()
    chosen = list(dict.fromkeys(numbers))[:MOST_RUNS]
    rows = shown_runs(project).only(*LEAN).prefetch_related("tags", "sources").in_bulk(chosen)
    same = {(task.task, task.seed): task.key for task in existing}
    keys = {task.key for task in existing}
    room = MOST_CHARS_TOGETHER - sum(task.chars for task in existing)
    for number in chosen:
        run = rows.get(number)
        if run is None:
            found.answer.refused.append(f"Run {number} is not in this project.")
            continue
        task = task_from_run(run, keys)
        room -= task.chars
        if reason := refusal(run, task, same, room):
            room += task.chars
            found.answer.refused.append(reason)
            continue
        same[task.task, task.seed] = task.key
        keys.add(task.key)
        found.tasks.append(task)
        found.runs[task.key] = run.pk
        found.answer.keys.append(task.key)
    return found


def refusal(run: Run, task: SuiteTaskText, same: dict[tuple[str, str], str], room: int) -> str:
    """Why the run cannot be added; empty if it can."""
    if not task.task:
        return f"Run {run.pk} has no task."
    if key := same.get((task.task, task.seed)):
        return f"The task of run {run.pk} is in the suite already, as {key}."
    longest = max(len(task.task), len(task.seed))
    if longest > MOST_TEXT_CHARS:
        return f"Run {run.pk} has a text of {longest:,} characters; a suite takes {MOST_TEXT_CHARS:,}."
    if room < 0:
        return f"Run {run.pk} does not fit: a suite has at most {MOST_CHARS_TOGETHER:,} characters."
    return ""


def task_from_run(run: Run, taken: set[str]) -> SuiteTaskText:
    """The run's task, starting text, title, task type, tags and sources."""
    task = text_cleaned(run.task).strip()
    title = run.title or title_of(task) or f"Run {run.pk}"
    sources = sorted(run.sources.all(), key=lambda source: source.position)
    return SuiteTaskText(
        key=key_for(title, taken),
        title=title,
        task=task,
        task_type=run.task_type,
        tags=tags_cleaned(tag.name for tag in run.tags.all()),
        seed=text_cleaned(run.seed),
        sources=tuple(SourceText(source.name, source.text) for source in sources),
    )
