"""The API's suites: what is read and what is sent."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from ninja import Field, Schema

from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import etag
from refinement.api.core.idempotency import made_at
from refinement.api.core.paging import Number
from refinement.api.core.problems import Refused, Wrong
from refinement.interchange.rubrics.yaml_reading import BadFile
from refinement.interchange.suites.merging import ImportMode
from refinement.interchange.suites.reading import tasks_from_values
from refinement.interchange.suites.types import (
    DESCRIPTION_CHARS,
    MOST_TASKS,
    NAME_CHARS,
    SuiteTaskText,
    check_fields,
    sources_json,
)
from refinement.models import SuiteVersion

NOTE_CHARS = 400
EXAMPLE_TASK = {"key": "restore", "task": "Explain how to restore a backup.", "task_type": "how-to"}


class SuiteLine(Schema):
    """A suite in a list, with its newest version's data."""

    slug: str = Field(examples=["support-answers"])
    name: str
    description: str = Field(description="The start of the description.")
    version: int = Field(examples=[3])
    tasks: int
    experiments: int = Field(description="Number of experiments; counted up to 1,000.")
    last_experiment: int | None = Field(description="The ID of the newest experiment.")
    saved_at: datetime
    saved_by: str
    archived_at: datetime | None


class SuiteShape(Schema):
    """A suite version, without its tasks: `/tasks` lists them."""

    slug: str
    name: str
    description: str
    version: int
    newest: int
    tasks: int
    note: str
    saved_at: datetime
    saved_by: str
    archived_at: datetime | None


class SuiteVersionLine(Schema):
    """A version in a list."""

    number: int
    note: str
    tasks: int
    experiments: int = Field(description="Number of experiments; counted up to 1,000.")
    saved_at: datetime
    saved_by: str


class TaskSource(Schema):
    name: str
    text: str


class TaskCheck(Schema):
    """A check, as in a rubric."""

    key: str
    kind: str
    parameters: dict[str, Any]
    severity: str
    weight: str
    suggestion: str


class TaskShape(Schema):
    """A task with all its texts."""

    position: int
    key: str
    title: str
    task: str
    task_type: str
    tags: list[str]
    seed: str
    expected: str
    sources: list[TaskSource]
    checks: list[TaskCheck]
    from_run: int | None = Field(description="The run that it was made from.")


TASKS_FIELD: Any = Field(
    max_length=MOST_TASKS,
    description="Tasks with the keys of the suite's YAML file. Only `task` is required.",
    examples=[[EXAMPLE_TASK]],
)


class SuiteNew(Schema):
    """A new suite."""

    name: str = Field(min_length=1, max_length=NAME_CHARS, examples=["Support answers"])
    description: str = Field("", max_length=DESCRIPTION_CHARS)
    tasks: list[dict[str, Any]] = TASKS_FIELD
    note: str = Field("", max_length=NOTE_CHARS)


class SuiteSave(Schema):
    """The suite's new content. Omitted fields stay as they are."""

    name: str | None = Field(None, min_length=1, max_length=NAME_CHARS)
    description: str | None = Field(None, max_length=DESCRIPTION_CHARS)
    tasks: list[dict[str, Any]] | None = Field(None, max_length=MOST_TASKS, examples=[[EXAMPLE_TASK]])
    note: str = Field("", max_length=NOTE_CHARS, examples=["Adds two tickets."])


class RunsAdd(Schema):
    """Runs that become tasks."""

    runs: list[Number] = Field(min_length=1, max_length=200, examples=[[41, 42]])


class RunsAdded(Schema):
    """The suite with the added tasks, their keys, and why other runs were not added."""

    suite: SuiteShape
    added: list[str]
    refused: list[str]


class SuiteRestore(Schema):
    """The version to restore."""

    version: int = Field(ge=1, le=2**31 - 1, examples=[1])


class FileQuery(Schema):
    """What the file in the body is."""

    format: str = Field(
        "",
        pattern="^(yaml|csv|jsonl|eval|)$",
        description="yaml, csv, jsonl or eval; detected from the content if omitted.",
    )
    note: str = Field("", max_length=NOTE_CHARS)


class NewFileQuery(FileQuery):
    """What the file is, and the slug and name of the suite."""

    slug: str = Field("", pattern=r"^[-a-zA-Z0-9_]{0,72}$", description="Made from the name by default.")
    name: str = Field("", max_length=NAME_CHARS, description="Required for CSV and JSON Lines.")


class ImportQuery(FileQuery):
    """What the file is, and what happens to the other tasks."""

    mode: ImportMode = Field(
        ImportMode.MERGE, description="What happens to tasks that the file does not have: merge keeps them."
    )
    dry_run: bool = Field(False, description="Only report what would change; needs no If-Match.")


class ImportResult(Schema):
    """What an import changes, by the tasks' keys."""

    dry_run: bool
    format: str
    added: list[str]
    changed: list[str]
    removed: list[str]
    unchanged: int
    notes: list[str] = Field(description="The parts of the file that are not used.")
    suite: SuiteShape


class TaskQuery(Schema):
    """A version."""

    version: int | None = Field(None, ge=1, le=2**31 - 1, description="Defaults to the newest.")


def tasks_sent(values: list[dict[str, Any]]) -> tuple[SuiteTaskText, ...]:
    """The tasks of a body. Raises 422 with every problem at its task."""
    try:
        return tasks_from_values(values)
    except BadFile as bad:
        wrongs = [
            Wrong(where=f"body.tasks.{problem.line - 1}", message=problem.message) for problem in bad.problems
        ]
        raise Refused(422, f"{wrongs[0].where}: {wrongs[0].message}", "invalid", wrongs) from None


def suite_tag(version: SuiteVersion) -> str:
    suite = version.suite
    return etag("suite", suite.pk, version.number, suite.name, suite.description, suite.archived_at)


def author(version: SuiteVersion) -> str:
    return version.created_by.display_name if version.created_by else ""


def suite_shape(version: SuiteVersion, newest: int | None = None) -> SuiteShape:
    suite = version.suite
    return SuiteShape(
        slug=suite.slug,
        name=suite.name,
        description=suite.description,
        version=version.number,
        newest=newest or version.number,
        tasks=version.task_count,
        note=version.note,
        saved_at=version.created_at,
        saved_by=author(version),
        archived_at=suite.archived_at,
    )


def task_shape(task: SuiteTaskText, position: int, from_run: int | None) -> TaskShape:
    return TaskShape(
        position=position,
        key=task.key,
        title=task.title,
        task=task.task,
        task_type=task.task_type,
        tags=list(task.tags),
        seed=task.seed,
        expected=task.expected,
        sources=[TaskSource(**source) for source in sources_json(task.sources)],
        checks=[TaskCheck(**{**check_fields(check), "weight": str(check.weight)}) for check in task.checks],
        from_run=from_run,
    )


def made(request: ApiRequest, version: SuiteVersion) -> SuiteShape:
    place = {"slug": version.suite.project.slug, "suite": version.suite.slug}
    made_at(request, reverse("api:suite_read", kwargs=place), suite_tag(version))
    return suite_shape(version)
