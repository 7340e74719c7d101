"""The rubric of an imported run: an equal one of the project, or a new one."""

from dataclasses import replace

from refinement.engine.types import Rubric as Definition
from refinement.models import Project, Rubric, RubricVersion, User
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import NAME_LENGTH, rubric_create, rubric_slug_for, version_create

PREFIX = "Imported: "
NOTE = "From an imported run."
MOST_COMPARED = 100  # versions of one name, newest first


def version_for_import(*, project: Project, definition: Definition, user: User | None) -> RubricVersion:
    """An equal version, or a new one. The number of rounds and their labels are not compared."""
    wanted = unfitted(definition)
    made_name = imported_name(definition.name)
    for name in dict.fromkeys((definition.name, made_name)):
        for version in versions_named(project, name):
            if unfitted(replace(definition_of(version), name=definition.name)) == wanted:
                return version
    named = replace(definition, name=made_name)
    rubric = Rubric.objects.filter(project=project, name=made_name).order_by("pk").first()
    if rubric is not None:
        return version_create(rubric=rubric, definition=named, user=user, note=NOTE)
    slug = rubric_slug_for(project, made_name)
    return rubric_create(project=project, slug=slug, definition=named, user=user, note=NOTE)


def versions_named(project: Project, name: str) -> list[RubricVersion]:
    versions = RubricVersion.objects.filter(rubric__project=project, name=name).order_by("-pk")
    return list(versions.select_related("rubric").prefetch_related("criteria", "checks")[:MOST_COMPARED])


def imported_name(name: str) -> str:
    return name if name.startswith(PREFIX) else f"{PREFIX}{name}"[:NAME_LENGTH].strip()


def unfitted(definition: Definition) -> Definition:
    """The definition without what differs between runs of one rubric."""
    return replace(definition, policy=replace(definition.policy, max_rounds=1))
