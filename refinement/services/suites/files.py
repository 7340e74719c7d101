"""Save suites from files: as a new suite, as the next version of one, or as a push from version control."""

from dataclasses import dataclass
from typing import Literal

from django.db import transaction

from refinement.interchange.suites.types import SuiteText
from refinement.models import Project, SuiteVersion, User
from refinement.selectors.suites.tasks import tasks_of
from refinement.services.rubrics.files import IMPORTED, UnknownBase
from refinement.services.suites.editing import NewerVersion, suite_create, suite_rename, version_save

__all__ = ["IMPORTED", "PushResult", "UnknownBase", "suite_push"]


@dataclass(frozen=True, slots=True)
class PushResult:
    """The version with the file's tasks, and what the push did."""

    version: SuiteVersion
    status: Literal["created", "saved", "unchanged"]


@transaction.atomic
def suite_push(
    *,
    project: Project,
    slug: str,
    suite: SuiteText,
    base: int | None = None,
    force: bool = False,
    user: User | None = None,
    note: str = "",
) -> PushResult:
    """Create or update the suite from a file's content. The same content saves nothing.

    Raises UnknownBase without `base`, and NewerVersion if `base` is not the newest, unless `force` is set.
    """
    note = note or IMPORTED
    row = project.suites.filter(slug=slug).first()
    if row is None:
        made = suite_create(
            project=project,
            slug=slug,
            name=suite.name,
            description=suite.description,
            tasks=suite.tasks,
            user=user,
            note=note,
        )
        return PushResult(made, "created")
    newest = row.versions.order_by("-number").first()
    assert newest is not None  # a suite is created with its first version
    same_tasks = tasks_of(newest) == suite.tasks
    if same_tasks and (row.name, row.description) == (suite.name, suite.description):
        return PushResult(newest, "unchanged")
    if base is None and not force:
        raise UnknownBase(newest.number)
    if base != newest.number and not force:
        raise NewerVersion(newest.number)
    suite_rename(suite=row, name=suite.name, description=suite.description, user=user)
    saved = version_save(suite=row, tasks=suite.tasks, edited_from=newest.number, user=user, note=note)
    return PushResult(saved or newest, "saved")
