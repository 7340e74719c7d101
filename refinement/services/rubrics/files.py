"""Rubrics that come in as files: a new rubric, or the next version of one that is there."""

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
    """The file says what the newest version says already; nothing was written."""

    def __init__(self, number: int) -> None:
        super().__init__(f"The file says the same as version {number}; nothing was saved.")
        self.number = number


@transaction.atomic
def rubric_import(
    *, project: Project, definition: engine.Rubric, user: User | None = None, note: str = "", slug: str = ""
) -> RubricVersion:
    """A new rubric from a file's definition, under this slug or one that its name gives."""
    if slug in RESERVED_SLUGS:
        raise ValidationError({"slug": f"A rubric cannot be called {slug}: a page has that address."})
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
    """The rubric's next version from a file's definition, unless the file brings nothing new."""
    newest = rubric.versions.prefetch_related("criteria", "checks").order_by("-number").first()
    if newest is not None and newest.number == edited_from and definition_of(newest) == definition:
        raise NothingNew(newest.number)
    return version_create(
        rubric=rubric, definition=definition, user=user, note=note or IMPORTED, edited_from=edited_from
    )


class UnknownBase(Exception):
    """The file does not say which version it was made from, and there is one that it would replace."""

    def __init__(self, newest: int) -> None:
        super().__init__(f"The file does not say from which version it was made; the newest is {newest}.")
        self.newest = newest


@dataclass(frozen=True, slots=True)
class PushResult:
    """The version that now says what the file says, and how it came about."""

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
    """Makes the rubric say what the file says; versions newer than `base` are kept, unless forced."""
    note = note or IMPORTED
    rubric = project.rubrics.filter(slug=slug).first()
    if rubric is None:
        made = rubric_import(project=project, definition=definition, user=user, note=note, slug=slug)
        return PushResult(made, "created")
    newest = rubric.versions.prefetch_related("criteria", "checks").order_by("-number").first()
    assert newest is not None  # a rubric is made with its first version
    if definition_of(newest) == definition:
        return PushResult(newest, "unchanged")
    if base is None and not force:
        raise UnknownBase(newest.number)
    edited_from = newest.number if force else base
    saved = version_create(
        rubric=rubric, definition=definition, user=user, note=note, edited_from=edited_from
    )
    return PushResult(saved, "saved")
