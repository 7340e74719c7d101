"""Archive and unarchive runs."""

from django.db import transaction
from django.utils import timezone

from refinement.models import Run, User
from refinement.services.audit import audit_record
from refinement.services.runs.lifecycle import READ_ONLY, WrongState


@transaction.atomic
def run_archive(*, run: Run, user: User | None = None, archived: bool = True) -> bool:
    """Archive or unarchive the run. Return False if it was already in that state.

    Raises WrongState for the prepared example, which is never listed.
    """
    if run.is_example:
        raise WrongState(f"Run {run.pk} {READ_ONLY}")
    rows = Run.objects.filter(pk=run.pk, archived_at__isnull=archived)
    run.archived_at = timezone.now() if archived else None
    if not rows.update(archived_at=run.archived_at):
        return False
    audit_record(
        action="run.archive" if archived else "run.unarchive",
        object_type="run",
        object_id=run.pk,
        project=run.project,
        user=user,
    )
    return True
