"""The same people asked about several runs: all of it, or nothing."""

from collections.abc import Sequence
from datetime import date

from django.db import transaction

from refinement.models import Project, ReviewRequest, Run, User
from refinement.services.reviews.requests import refuse_unaskable, reviews_ask


@transaction.atomic
def runs_review(
    *,
    project: Project,
    runs: Sequence[Run],
    reviewers: Sequence[User],
    user: User,
    note: str = "",
    due_on: date | None = None,
) -> list[ReviewRequest]:
    """The new requests; raises ValidationError."""
    refuse_unaskable(project, reviewers, note, due_on)
    return [
        request
        for run in runs
        for request in reviews_ask(run=run, reviewers=reviewers, user=user, note=note, due_on=due_on)
    ]
