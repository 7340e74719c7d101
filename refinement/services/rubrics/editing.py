"""Create, edit, copy, restore and archive rubrics. Every save is a new version."""

from collections.abc import Mapping
from dataclasses import replace

from django.db import transaction
from django.utils.text import slugify

from refinement.engine import types as engine
from refinement.engine.codec import rubric_to_json
from refinement.engine.profiles import default_rubrics
from refinement.models import Check, Criterion, Project, Rubric, RubricVersion, User
from refinement.models.rubrics.rubrics import INITIAL_NOTE
from refinement.selectors.rubrics.comparisons import definitions_compared
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.archiving import archived_set
from refinement.services.audit import audit_record

# Page names in URLs where a rubric's slug would be.
RESERVED_SLUGS = frozenset({"new", "import", "export", "gallery", "search", "archived"})
SLUG_LENGTH = 72  # of the field's 80 characters; the rest is for a number
NAME_LENGTH = 160
MOST_AUDITED, AUDITED_CHARS = 12, 300  # changed values in the audit log


def rubric_slug_for(project: Project, name: str) -> str:
    """A free slug for a rubric of this name, never a reserved one."""
    base = slugify(name)[:SLUG_LENGTH].strip("-_") or "rubric"
    taken = set(project.rubrics.filter(slug__startswith=base).values_list("slug", flat=True)) | RESERVED_SLUGS
    if base not in taken:
        return base
    return next(slug for number in range(2, len(taken) + 3) if (slug := f"{base}-{number}") not in taken)


@transaction.atomic
def rubric_create(
    *, project: Project, slug: str, definition: engine.Rubric, user: User | None = None, note: str = ""
) -> RubricVersion:
    """Create a rubric with its first version."""
    rubric = Rubric(project=project, slug=slug, name=definition.name, created_by=user)
    rubric.full_clean()
    rubric.save()
    return version_create(rubric=rubric, definition=definition, user=user, note=note)


class NewerVersion(Exception):
    """A newer version was saved during the edit. Nothing was written."""

    def __init__(self, newest: int) -> None:
        super().__init__(f"Version {newest} was saved in the meantime.")
        self.newest = newest


@transaction.atomic
def version_create(
    *,
    rubric: Rubric,
    definition: engine.Rubric,
    user: User | None = None,
    note: str = "",
    edited_from: int | None = None,
) -> RubricVersion:
    """Save the rubric's next version. Raises NewerVersion if `edited_from` is not the newest."""
    # Locks the rubric, so that concurrent saves run one after the other.
    Rubric.objects.select_for_update().get(pk=rubric.pk)
    newest = rubric.versions.order_by("-number").values_list("number", flat=True).first() or 0
    if edited_from is not None and edited_from != newest:
        raise NewerVersion(newest)
    changed = changed_values(rubric, newest, definition)
    version = version_row(rubric, definition, newest + 1)
    version.created_by = user
    version.note = note
    version.save()
    Criterion.objects.bulk_create(criterion_rows(version, definition))
    Check.objects.bulk_create(check_rows(version, definition))
    if rubric.name != definition.name:
        rubric.name = definition.name
        rubric.save(update_fields=["name"])
    audit_record(
        action="rubric.save" if newest else "rubric.create",
        object_type="rubric",
        object_id=rubric.pk,
        project=rubric.project,
        user=user,
        before={"version": newest, **changed[0]} if newest else {},
        after={"version": version.number, "name": version.name, "note": note, **changed[1]},
    )
    return version


@transaction.atomic
def rubric_restore(*, rubric: Rubric, number: int, edited_from: int, user: User) -> RubricVersion:
    """Save an earlier version's definition as a new version. Raises NewerVersion."""
    earlier = rubric.versions.get(number=number)
    version = version_create(
        rubric=rubric,
        definition=definition_of(earlier),
        user=user,
        note=f"Restored from version {number}.",
        edited_from=edited_from,
    )
    after = {"version": version.number, "restored_from": number}
    record_change("rubric.restore", rubric, user, {"version": edited_from}, after)
    return version


@transaction.atomic
def rubric_duplicate(*, version: RubricVersion, project: Project, name: str, user: User) -> RubricVersion:
    """Create a rubric with this version's definition, in the same project or another."""
    origin = version.rubric
    copy = rubric_create(
        project=project,
        slug=rubric_slug_for(project, name),
        definition=replace(definition_of(version), name=name),
        user=user,
        note=f"Copied from {version.name}, version {version.number}."[:400],
    )
    before = {"project": origin.project.slug, "rubric": origin.slug, "version": version.number}
    after = {"project": project.slug, "rubric": copy.rubric.slug, "version": copy.number}
    record_change("rubric.duplicate", copy.rubric, user, before, after)
    return copy


def copy_name(name: str) -> str:
    """The default name of a copy."""
    return f"Copy of {name}"[:NAME_LENGTH].strip()


@transaction.atomic
def rubric_archive(*, rubric: Rubric, user: User, archived: bool = True) -> bool:
    """Archive or unarchive the rubric. Return False if it was already in that state."""
    if not archived_set(rubric, archived=archived):
        return False
    action = "rubric.archive" if archived else "rubric.unarchive"
    record_change(action, rubric, user, {"archived": not archived}, {"archived": archived})
    return True


def changed_values(
    rubric: Rubric, newest: int, definition: engine.Rubric
) -> tuple[dict[str, str], dict[str, str]]:
    """The values that a new version changes, before and after, for the audit log."""
    previous = rubric.versions.filter(number=newest).first()
    if previous is None:
        return {}, {}
    changed = definitions_compared(definition_of(previous), definition).changed[:MOST_AUDITED]
    values = [(entry.label[:1].lower() + entry.label[1:], entry.before, entry.after) for entry in changed]
    return (
        {name: before[:AUDITED_CHARS] for name, before, _ in values if before is not None},
        {name: after[:AUDITED_CHARS] for name, _, after in values if after is not None},
    )


def record_change(
    action: str, rubric: Rubric, user: User, before: Mapping[str, object], after: Mapping[str, object]
) -> None:
    audit_record(
        action=action,
        object_type="rubric",
        object_id=rubric.pk,
        project=rubric.project,
        user=user,
        before=before,
        after=after,
    )


def version_row(rubric: Rubric, definition: engine.Rubric, number: int) -> RubricVersion:
    values = rubric_to_json(definition)
    plain = ("name", "profile", "purpose", "artifact_type", "problem_class", "evaluation_mode", "policy")
    texts = ("context", "judges", "background", "search_space", "templates")
    contract = ("output_contract", "output_schema", "output_pattern")
    calibration = ("calibration_text", "calibration_scores")
    return RubricVersion(
        rubric=rubric,
        number=number,
        scale_minimum=definition.scale.minimum,
        scale_maximum=definition.scale.maximum,
        scale_step=definition.scale.step,
        evaluator=None if definition.evaluator == engine.Evaluator() else values["evaluator"],
        **{name: values[name] for name in (*plain, *texts, *contract, *calibration)},
    )


def criterion_rows(version: RubricVersion, definition: engine.Rubric) -> list[Criterion]:
    return [
        Criterion(
            version=version,
            position=position,
            key=entry.key,
            name=entry.name,
            description=entry.description,
            ideal=entry.ideal,
            weight=entry.weight,
            primary=entry.primary,
        )
        for position, entry in enumerate(definition.criteria)
    ]


def check_rows(version: RubricVersion, definition: engine.Rubric) -> list[Check]:
    values = rubric_to_json(definition)["checks"]
    return [
        Check(
            version=version,
            position=position,
            key=entry.key,
            kind=entry.kind,
            parameters=values[position]["parameters"],
            severity=entry.severity,
            weight=entry.weight,
            suggestion=entry.suggestion,
        )
        for position, entry in enumerate(definition.checks)
    ]


@transaction.atomic
def default_rubrics_install(*, project: Project, user: User | None = None) -> None:
    """Add the default rubrics that the project does not have yet."""
    present = set(project.rubrics.values_list("slug", flat=True))
    wanted = {slug: definition for slug, definition in default_rubrics().items() if slug not in present}
    rubrics = Rubric.objects.bulk_create(
        Rubric(project=project, slug=slug, name=definition.name, created_by=user)
        for slug, definition in wanted.items()
    )
    versions = [
        version_row(rubric, definition, 1)
        for rubric, definition in zip(rubrics, wanted.values(), strict=True)
    ]
    for version in versions:
        version.created_by = user
        version.note = INITIAL_NOTE
    RubricVersion.objects.bulk_create(versions)
    pairs = list(zip(versions, wanted.values(), strict=True))
    Criterion.objects.bulk_create(row for version, of in pairs for row in criterion_rows(version, of))
    Check.objects.bulk_create(row for version, of in pairs for row in check_rows(version, of))
