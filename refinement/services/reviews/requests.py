"""Asking people to review runs, and closing what was asked."""

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
LAST_ZONE = timedelta(hours=12)  # behind UTC: nobody has a later today
_record = AuditOf("review")


@transaction.atomic
def reviews_ask(
    *, run: Run, reviewers: Sequence[User], user: User, note: str = "", due_on: date | None = None
) -> list[ReviewRequest]:
    """Asks each of these members who is not asked already; the new requests. Raises ValidationError."""
    words = storable(note).strip()
    refuse_unaskable(run.project, reviewers, words, due_on)
    run_lock(run)
    already = set(open_requests(run).values_list("reviewer_id", flat=True))
    fresh = [person for person in reviewers if person.pk not in already]
    asked = [
        ReviewRequest.objects.create(
            project=run.project, run=run, reviewer=person, asked_by=user, note=words, due_on=due_on
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
    """Closes what this person was asked about the run; False where nothing was open."""
    request = open_requests(run).filter(reviewer=user).select_related("project", "reviewer").first()
    return request is not None and _closed(request, user, "review.done")


@transaction.atomic
def review_take_back(*, project: Project, number: int, membership: Membership) -> bool:
    """The request no longer waits; False where it did not any more. Raises NotFound, PermissionDenied."""
    rows = ReviewRequest.objects.filter(project=project, pk=number)
    request = rows.select_related("project", "reviewer", "asked_by", "rule").first()
    if request is None:
        raise NotFound("There is no such request in this project.")
    if not may_take_back(request, membership):
        who = request.asked_by.display_name if request.asked_by else "whoever made the rule"
        raise PermissionDenied(f"Only {who} or an owner of the project can take this request back.")
    return _closed(request, membership.user, "review.take_back", taken_back=True)


def may_take_back(request: ReviewRequest, membership: Membership) -> bool:
    """Who asked, who made the rule that asked, and the project's owners."""
    asker = request.rule.created_by_id if request.rule else request.asked_by_id
    return membership.is_owner or asker == membership.user_id


def reviews_release(membership: Membership, by: User) -> None:
    """Whoever leaves a project owes it no reviews; joins the caller's transaction."""
    waiting = ReviewRequest.objects.filter(
        project_id=membership.project_id, reviewer_id=membership.user_id, closed_at=None
    )
    for request in waiting.select_related("project", "reviewer"):
        _closed(request, by, "review.take_back", taken_back=True)


def earliest_today() -> date:
    """Today where it comes last: who asks in the evening there has not chosen a day that is past."""
    return (timezone.now() - LAST_ZONE).date()


def refuse_unaskable(project: Project, reviewers: Sequence[User], note: str, due_on: date | None) -> None:
    """What is wrong with a request is said before anybody is asked."""
    if not reviewers:
        raise ValidationError({"reviewers": "Choose who is to review."})
    if len(reviewers) > MOST_REVIEWERS:
        raise ValidationError({"reviewers": f"Ask {MOST_REVIEWERS} people at most."})
    if len(note) > NOTE_CHARS:
        raise ValidationError({"note": f"The note is longer than {NOTE_CHARS:,} characters."})
    if due_on is not None and due_on < earliest_today():
        raise ValidationError({"due_on": "This day is past; choose today or a later one."})
    members = active_members(project, [person.pk for person in reviewers])
    for person in reviewers:
        if person.pk not in members:
            raise ValidationError(
                {"reviewers": f"{person.display_name} is not a member of {project.name} any more."}
            )


def active_members(project: Project, people: Sequence[int]) -> set[int]:
    """Those of these people who are in the project and can sign in."""
    found = Membership.objects.filter(project=project, user__in=people, user__is_active=True)
    return set(found.values_list("user_id", flat=True))


def open_requests(run: Run) -> QuerySet[ReviewRequest]:
    return ReviewRequest.objects.filter(run=run, closed_at__isnull=True)


def run_lock(run: Run) -> None:
    """Requests about one run come one after the other, until the transaction ends."""
    Run.objects.select_for_update(no_key=True).only("pk").get(pk=run.pk)


def _closed(request: ReviewRequest, by: User, action: str, *, taken_back: bool = False) -> bool:
    # Conditional: a score, "Done" and taking back can come at once, and one of them counts.
    still_open = ReviewRequest.objects.filter(pk=request.pk, closed_at__isnull=True)
    if not still_open.update(closed_at=timezone.now(), taken_back=taken_back):
        return False
    _record(action, request, by, before={"reviewer": request.reviewer.email, "run": request.run_id})
    event_record(request.run_id, EventKind.REVIEWING, actor=actor_name(by), user=by)
    return True
