"""Imports: what a file would change in a suite, and the same for good."""

from dataclasses import dataclass, replace

from django.db import transaction

from refinement.evals.as_suite import suite_from_eval
from refinement.interchange.suites.detecting import kind_of
from refinement.interchange.suites.merging import ImportMode, imported
from refinement.interchange.suites.tables import tasks_from_csv, tasks_from_jsonl
from refinement.interchange.suites.types import SuiteTaskText, SuiteText
from refinement.interchange.suites.yaml import suite_from_yaml
from refinement.models import Project, Suite, SuiteVersion, User
from refinement.services.suites.editing import suite_create, suite_rename, version_save
from refinement.services.suites.files import IMPORTED


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file's suite, its kind, and notes for people. The name is empty if the file has none."""

    kind: str
    suite: SuiteText
    notes: tuple[str, ...] = ()


def file_read(source: str, kind: str = "", name: str = "") -> FileRead:
    """Read a file of any supported kind. Raises BadFile with all problems by line."""
    kind = kind or kind_of(source, name)
    if kind == "csv":
        tasks, unused = tasks_from_csv(source)
        return FileRead(kind, SuiteText("", "", tasks), tuple(problem.message for problem in unused))
    if kind == "jsonl":
        return FileRead(kind, SuiteText("", "", tasks_from_jsonl(source)))
    if kind == "eval":
        suite, notes = suite_from_eval(source)
        return FileRead(kind, suite, tuple(notes))
    return FileRead(kind, suite_from_yaml(source))


def tasks_after(
    existing: tuple[SuiteTaskText, ...], read: FileRead, mode: ImportMode
) -> tuple[SuiteTaskText, ...]:
    """The suite's tasks after the import."""
    return imported(existing, read.suite.tasks, mode)


@transaction.atomic
def suite_import(
    *,
    project: Project,
    read: FileRead,
    name: str = "",
    slug: str = "",
    note: str = "",
    user: User | None = None,
) -> SuiteVersion:
    """Create a suite from a file. Raises ValidationError."""
    suite = replace(read.suite, name=name or read.suite.name)
    return suite_create(
        project=project,
        name=suite.name,
        description=suite.description,
        tasks=suite.tasks,
        slug=slug,
        user=user,
        note=note or IMPORTED,
    )


@transaction.atomic
def version_import(
    *,
    suite: Suite,
    tasks: tuple[SuiteTaskText, ...],
    read: FileRead,
    edited_from: int,
    user: User | None = None,
    note: str = "",
) -> SuiteVersion | None:
    """Save an import as the suite's next version; None if nothing changes.

    A suite's YAML also sets the name and description. Raises NewerVersion, ValidationError.
    """
    version = version_save(
        suite=suite, tasks=tasks, edited_from=edited_from, user=user, note=note or IMPORTED
    )
    if read.kind == "yaml":
        suite_rename(suite=suite, name=read.suite.name, description=read.suite.description, user=user)
    return version
