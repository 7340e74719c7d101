"""Import rubrics from files, as a new rubric or as the next version of one."""

from dataclasses import dataclass
from typing import Literal

from django.core.exceptions import ValidationError
from django.db import transaction

from refinement.engine import types as engine
from refinement.models import Project, Rubric, RubricVersion, User
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import RESERVED_SLUGS, rubric_create, rubric_slug_for, version_create

IMPORTED = "Imported from a file."


class NothingNew(Exception):
    """The file is equal to the newest version. Nothing was written."""

    def __init__(self, number: int) -> None:
        super().__init__(f"The file is the same as version {number}. Nothing was saved.")
        self.number = number


@transaction.atomic
def rubric_import(
    *, project: Project, definition: engine.Rubric, user: User | None = None, note: str = "", slug: str = ""
) -> RubricVersion:
    """Create a rubric from a file's definition. The default slug is made from its name."""
    if slug in RESERVED_SLUGS:
        raise ValidationError({"slug": f"A rubric cannot have the slug {slug}: it is reserved."})
    slug = slug or rubric_slug_for(project, definition.name)
    return rubric_create(project=project, slug=slug, definition=definition, user=user, note=note or IMPORTED)


@transaction.atomic
def version_import(
    *,
    rubric: Rubric,
    definition: engine.Rubric,
    edited_from: int,
    user: User | None = None,
    note: str = "",
) -> RubricVersion:
    """Save a file's definition as the rubric's next version. Raises NothingNew, NewerVersion."""
    newest = rubric.versions.prefetch_related("criteria", "checks").order_by("-number").first()
    if newest is not None and newest.number == edited_from and definition_of(newest) == definition:
        raise NothingNew(newest.number)
    return version_create(
        rubric=rubric, definition=definition, user=user, note=note or IMPORTED, edited_from=edited_from
    )


class UnknownBase(Exception):
    """The file does not state its base version, and a version exists."""

    def __init__(self, newest: int) -> None:
        super().__init__(f"The file does not state its base version. The newest version is {newest}.")
        self.newest = newest


@dataclass(frozen=True, slots=True)
class PushResult:
    """The version with the file's definition, and what the push did."""

    version: RubricVersion
    status: Literal["created", "saved", "unchanged"]


@transaction.atomic
def rubric_push(
    *,
    project: Project,
    slug: str,
    definition: engine.Rubric,
    base: int | None = None,
    force: bool = False,
    user: User | None = None,
    note: str = "",
) -> PushResult:
    """Create or update the rubric from a file's definition.

    Raises UnknownBase without `base`, and NewerVersion if `base` is not the newest, unless `force` is set.
    """
    note = note or IMPORTED
    rubric = project.rubrics.filter(slug=slug).first()
    if rubric is None:
        made = rubric_import(project=project, definition=definition, user=user, note=note, slug=slug)
        return PushResult(made, "created")
    newest = rubric.versions.prefetch_related("criteria", "checks").order_by("-number").first()
    assert newest is not None  # a rubric is created with its first version
    if definition_of(newest) == definition:
        return PushResult(newest, "unchanged")
    if base is None and not force:
        raise UnknownBase(newest.number)
    edited_from = newest.number if force else base
    saved = version_create(
        rubric=rubric, definition=definition, user=user, note=note, edited_from=edited_from
    )
    return PushResult(saved, "saved")
