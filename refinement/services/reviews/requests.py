"""Review requests: create, complete and cancel them."""

from collections.abc import Sequence
from datetime import date, timedelta

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from refinement.execution.events import actor_name, event_record
from refinement.models import EventKind, Membership, Project, ReviewRequest, Run, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.audit import AuditOf
from refinement.services.notices.creating import notice_review
from refinement.services.webhooks.events import hook_review_asked
from refinement.texts import storable

NOTE_CHARS = 1_000
MOST_REVIEWERS = 20
LAST_ZONE = timedelta(hours=12)  # the time zone furthest behind UTC
_record = AuditOf("review")


@transaction.atomic
def reviews_ask(
    *, run: Run, reviewers: Sequence[User], user: User, note: str = "", due_on: date | None = None
) -> list[ReviewRequest]:
    """Request a review from each of these members, and return the new requests.

    Members with an open request for the run are skipped. Raises ValidationError.
    """
    text = storable(note).strip()
    validate_request(run.project, reviewers, text, due_on)
    run_lock(run)
    already = set(open_requests(run).values_list("reviewer_id", flat=True))
    fresh = [person for person in reviewers if person.pk not in already]
    asked = [
        ReviewRequest.objects.create(
            project=run.project, run=run, reviewer=person, asked_by=user, note=text, due_on=due_on
        )
        for person in fresh
    ]
    for request in asked:
        after: dict[str, object] = {"reviewer": request.reviewer.email, "run": run.pk}
        _record("review.ask", request, user, after=after | ({"due": f"{due_on}"} if due_on else {}))
        notice_review(request)
        hook_review_asked(request)
    if asked:
        event_record(run.pk, EventKind.REVIEWING, actor=actor_name(user), user=user)
    return asked


@transaction.atomic
def review_done(*, run: Run, user: User) -> bool:
    """Complete the user's open request for the run. Return False if there is none."""
    request = open_requests(run).filter(reviewer=user).select_related("project", "reviewer").first()
    return request is not None and _closed(request, user, "review.done")


@transaction.atomic
def review_take_back(*, project: Project, number: int, membership: Membership) -> bool:
    """Cancel the request. Return False if it was already closed. Raises NotFound, PermissionDenied."""
    rows = ReviewRequest.objects.filter(project=project, pk=number)
    request = rows.select_related("project", "reviewer", "asked_by", "rule").first()
    if request is None:
        raise NotFound("This project has no such review request.")
    if not may_take_back(request, membership):
        who = request.asked_by.display_name if request.asked_by else "the rule's creator"
        raise PermissionDenied(f"Only {who} or a project owner can cancel this request.")
    return _closed(request, membership.user, "review.take_back", taken_back=True)


def may_take_back(request: ReviewRequest, membership: Membership) -> bool:
    """The requester, the creator of the rule behind the request, and project owners may cancel it."""
    asker = request.rule.created_by_id if request.rule else request.asked_by_id
    return membership.is_owner or asker == membership.user_id


def reviews_release(membership: Membership, by: User) -> None:
    """Cancel the requests of a member who leaves the project. Joins the caller's transaction."""
    waiting = ReviewRequest.objects.filter(
        project_id=membership.project_id, reviewer_id=membership.user_id, closed_at=None
    )
    for request in waiting.select_related("project", "reviewer"):
        _closed(request, by, "review.take_back", taken_back=True)


def earliest_today() -> date:
    """Today's date in the last time zone, so that "today" is accepted everywhere."""
    return (timezone.now() - LAST_ZONE).date()


def validate_request(project: Project, reviewers: Sequence[User], note: str, due_on: date | None) -> None:
    """Raises ValidationError."""
    if not reviewers:
        raise ValidationError({"reviewers": "Choose at least one reviewer."})
    if len(reviewers) > MOST_REVIEWERS:
        raise ValidationError({"reviewers": f"Choose at most {MOST_REVIEWERS} reviewers."})
    if len(note) > NOTE_CHARS:
        raise ValidationError({"note": f"The note is longer than {NOTE_CHARS:,} characters."})
    if due_on is not None and due_on < earliest_today():
        raise ValidationError({"due_on": "This date is in the past. Choose today or later."})
    members = active_members(project, [person.pk for person in reviewers])
    for person in reviewers:
        if person.pk not in members:
            raise ValidationError({"reviewers": f"{person.display_name} is not a member of {project.name}."})


def active_members(project: Project, people: Sequence[int]) -> set[int]:
    """The ids among `people` that are members of the project and can sign in."""
    members = Membership.objects.filter(project=project, user__in=people, user__is_active=True)
    return set(members.values_list("user_id", flat=True))


def open_requests(run: Run) -> QuerySet[ReviewRequest]:
    return ReviewRequest.objects.filter(run=run, closed_at__isnull=True)


def run_lock(run: Run) -> None:
    """Serialize requests for one run until the transaction ends."""
    Run.objects.select_for_update(no_key=True).only("pk").get(pk=run.pk)


def _closed(request: ReviewRequest, by: User, action: str, *, taken_back: bool = False) -> bool:
    # Conditional: a score, "Done" and a cancellation can arrive at once, and only one takes effect.
    still_open = ReviewRequest.objects.filter(pk=request.pk, closed_at__isnull=True)
    if not still_open.update(closed_at=timezone.now(), taken_back=taken_back):
        return False
    _record(action, request, by, before={"reviewer": request.reviewer.email, "run": request.run_id})
    event_record(request.run_id, EventKind.REVIEWING, actor=actor_name(by), user=by)
    return True
