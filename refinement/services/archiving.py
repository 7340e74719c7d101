"""Archiving what has versions: rubrics and suites."""

from django.utils import timezone

from refinement.models import Rubric, Suite


def archived_set(row: Rubric | Suite, *, archived: bool) -> bool:
    """Archives or unarchives it; False if it was already in that state. Call it in a transaction."""
    rows = Rubric.objects if isinstance(row, Rubric) else Suite.objects
    locked = rows.select_for_update().get(pk=row.pk)
    if (locked.archived_at is not None) is archived:
        return False
    row.archived_at = timezone.now() if archived else None
    row.save(update_fields=["archived_at"])
    return True
