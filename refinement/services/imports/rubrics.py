"""The rubric of an imported run: one that says the same, where the project has it, else one made for it."""

from dataclasses import replace

from refinement.engine.types import Rubric as Definition
from refinement.models import Project, Rubric, RubricVersion, User
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import NAME_LENGTH, rubric_create, rubric_slug_for, version_create

PREFIX = "Imported: "
NOTE = "As an imported run used it."
MOST_LOOKED_AT = 100  # versions of one name, the newest first


def version_for_import(*, project: Project, definition: Definition, user: User | None) -> RubricVersion:
    """A version that says this, found or made; how many rounds a run had, and their names, are its own."""
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
    return list(versions.select_related("rubric").prefetch_related("criteria", "checks")[:MOST_LOOKED_AT])


def imported_name(name: str) -> str:
    return name if name.startswith(PREFIX) else f"{PREFIX}{name}"[:NAME_LENGTH].strip()


def unfitted(definition: Definition) -> Definition:
    """Without what differs from run to run under one rubric."""
    return replace(definition, policy=replace(definition.policy, max_rounds=1, first_number=0))
