"""Renaming a run."""

from django.core.exceptions import ValidationError
from django.db import transaction

from refinement.models import Run, User
from refinement.models.runs.runs import TITLE_CHARS
from refinement.services.audit import audit_record
from refinement.services.runs.creating import title_of
from refinement.texts import storable


@transaction.atomic
def run_rename(*, run: Run, title: str, user: User) -> str:
    """Set the run's title; an empty one is made from the task again. Raises ValidationError."""
    wanted = " ".join(storable(title).split()) or title_of(run.task)
    if len(wanted) > TITLE_CHARS:
        raise ValidationError({"title": f"A title has at most {TITLE_CHARS} characters."})
    before = run.title
    if wanted == before:
        return wanted
    run.title = wanted
    run.save(update_fields=["title"])
    audit_record(
        action="run.rename",
        object_type="run",
        object_id=run.pk,
        project=run.project,
        user=user,
        before={"title": before},
        after={"title": wanted},
    )
    return wanted
