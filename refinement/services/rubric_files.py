"""Rubrics that come in as files: a new rubric, or the next version of one that is there."""

from django.db import transaction

from refinement.engine import types as engine
from refinement.models import Project, Rubric, RubricVersion, User
from refinement.selectors.rubrics import definition_of
from refinement.services.rubrics import rubric_create, rubric_slug_for, version_create

IMPORTED = "Imported from a file."


class NothingNew(Exception):
    """The file says what the newest version says already; nothing was written."""

    def __init__(self, number: int) -> None:
        super().__init__(f"The file says the same as version {number}; nothing was saved.")
        self.number = number


@transaction.atomic
def rubric_import(
    *, project: Project, definition: engine.Rubric, user: User | None = None, note: str = ""
) -> RubricVersion:
    """A new rubric from a file's definition."""
    slug = rubric_slug_for(project, definition.name)
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
