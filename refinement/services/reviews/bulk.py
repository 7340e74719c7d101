"""Review requests for several runs at once, all or nothing."""

from collections.abc import Sequence
from datetime import date

from django.db import transaction

from refinement.models import Project, ReviewRequest, Run, User
from refinement.services.reviews.requests import reviews_ask, validate_request


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
    """Request reviews of every run and return the new requests. Raises ValidationError."""
    validate_request(project, reviewers, note, due_on)
    return [
        request
        for run in runs
        for request in reviews_ask(run=run, reviewers=reviewers, user=user, note=note, due_on=due_on)
    ]
