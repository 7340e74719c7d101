"""Label sets: create, change, archive. Every change of labels has the judges' figures computed again."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from refinement.interchange.labels.types import NAME_CHARS, name_cleaned, text_cleaned
from refinement.models import LabelSet, Project, RubricVersion, User
from refinement.services.audit import audit_record
from refinement.services.trust.judges import trust_refresh_rubric

NOTE_CHARS = 4_000
MOST_RATERS_WANTED = 20


@transaction.atomic
def label_set_create(
    *,
    project: Project,
    version: RubricVersion,
    name: str,
    note: str = "",
    raters_wanted: int = 2,
    user: User | None = None,
) -> LabelSet:
    """Create an empty label set for the version's criteria and scale. Raises ValidationError."""
    if not version.criteria.exists():
        raise ValidationError(
            {"rubric": "This rubric has no criteria to score, only checks. Choose a rubric with criteria."}
        )
    name, note = named(project, name), noted(note)
    row = LabelSet.objects.create(
        project=project,
        rubric_id=version.rubric_id,
        rubric_version=version,
        name=name,
        note=note,
        raters_wanted=wanted(raters_wanted),
        created_by=user,
    )
    after = {
        "name": name,
        "rubric": f"{version.rubric.slug}@{version.number}",
        "raters_wanted": raters_wanted,
    }
    labels_audited("labels.create", row, user, after=after)
    return row


@transaction.atomic
def label_set_change(
    *, label_set: LabelSet, name: str, note: str, raters_wanted: int, user: User | None = None
) -> bool:
    """Change the name, note and number of raters. Return False if nothing changed. Raises ValidationError."""
    after = {
        "name": named(label_set.project, name, label_set.pk),
        "note": noted(note),
        "raters_wanted": wanted(raters_wanted),
    }
    before = {field: getattr(label_set, field) for field in after}
    if before == after:
        return False
    for field, value in after.items():
        setattr(label_set, field, value)
    label_set.save(update_fields=list(after))
    labels_audited("labels.change", label_set, user, before=before, after=after)
    return True


@transaction.atomic
def label_set_archive(*, label_set: LabelSet, user: User | None = None, archived: bool = True) -> bool:
    """Archive or unarchive the set. Labels of archived sets do not count, and its queues are closed.

    Returns False if it was already in that state.
    """
    locked = LabelSet.objects.select_for_update().get(pk=label_set.pk)
    if (locked.archived_at is not None) is archived:
        return False
    label_set.archived_at = timezone.now() if archived else None
    label_set.save(update_fields=["archived_at"])
    if archived:
        label_set.raters.filter(opened_at__isnull=False).update(opened_at=None, left_at=timezone.now())
    action = "labels.archive" if archived else "labels.unarchive"
    labels_audited(action, label_set, user, before={"archived": not archived}, after={"archived": archived})
    trust_refresh_rubric(label_set.rubric)
    return True


def named(project: Project, name: str, own: int | None = None) -> str:
    """A free name as it is stored. Raises ValidationError."""
    cleaned = name_cleaned(name)
    if not cleaned:
        raise ValidationError({"name": "Enter a name."})
    if len(cleaned) > NAME_CHARS:
        raise ValidationError({"name": f"A name has at most {NAME_CHARS} characters."})
    others = LabelSet.objects.filter(project=project, name=cleaned)
    if (others if own is None else others.exclude(pk=own)).exists():
        raise ValidationError({"name": f"There is a label set {cleaned!r} already. Choose another name."})
    return cleaned


def noted(note: str) -> str:
    cleaned = text_cleaned(note).strip()
    if len(cleaned) > NOTE_CHARS:
        raise ValidationError({"note": f"A note has at most {NOTE_CHARS:,} characters."})
    return cleaned


def wanted(raters: int) -> int:
    if not 1 <= raters <= MOST_RATERS_WANTED:
        raise ValidationError({"raters_wanted": f"Enter a number from 1 to {MOST_RATERS_WANTED}."})
    return raters


def labels_audited(
    action: str,
    row: LabelSet,
    user: User | None,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    """Write to the audit log. Entries have no scores, so that they give nothing away to raters."""
    audit_record(
        action=action,
        object_type="label_set",
        object_id=row.pk,
        project=row.project,
        user=user,
        before=before,
        after=after,
    )
