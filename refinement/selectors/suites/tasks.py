"""The tasks of a suite version as plain data."""

from collections.abc import Iterable

from refinement.interchange.suites.types import SuiteTaskText, SuiteText, check_from_json
from refinement.judging.sources import SourceText
from refinement.models import SuiteTask, SuiteVersion


def tasks_of(version: SuiteVersion) -> tuple[SuiteTaskText, ...]:
    """Every task of the version, in order. One query."""
    return tuple(task_text(row) for row in version.tasks.order_by("position"))


def task_text(row: SuiteTask) -> SuiteTaskText:
    """A task with its sources and checks as the engine has them."""
    return SuiteTaskText(
        key=row.key,
        title=row.title,
        task=row.task,
        task_type=row.task_type,
        tags=tuple(row.tags),
        seed=row.seed,
        expected=row.expected,
        sources=tuple(SourceText(entry["name"], entry["text"]) for entry in row.sources),
        checks=tuple(check_from_json(entry) for entry in row.checks),
    )


def suite_text(version: SuiteVersion, tasks: Iterable[SuiteTaskText] | None = None) -> SuiteText:
    """The version as its file has it, with the suite's current name and description."""
    suite = version.suite
    return SuiteText(suite.name, suite.description, tuple(tasks) if tasks is not None else tasks_of(version))
