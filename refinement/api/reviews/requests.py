"""Review requests, your queue, and automatic review rules."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from ninja import Field, Query, Router, Schema, Status

from refinement.access.objects import run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.models import Project, ReviewRequest, ReviewRule, Rubric, Run, User
from refinement.selectors.reviews.blindness import shown_runs, without_hidden
from refinement.selectors.reviews.requests import MOST_WAITING, queue_start, waiting_for
from refinement.selectors.reviews.words import rule_label
from refinement.services.reviews.bulk import runs_review
from refinement.services.reviews.requests import (
    MOST_REVIEWERS,
    NOTE_CHARS,
    review_done,
    review_take_back,
    reviews_ask,
)
from refinement.services.reviews.rules import MOST_DUE_DAYS, review_rule_create, review_rule_end
from refinement.services.runs.bulk import MOST_RUNS

router = Router(tags=["Reviews"])
LARGEST_NUMBER = 2**31 - 1
Number = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
PEOPLE = Field(min_length=1, max_length=MOST_REVIEWERS, description="Member IDs.", examples=[[2]])


class ReviewNew(Schema):
    """Reviewers, due date and note."""

    reviewers: list[Number] = PEOPLE
    note: str = Field("", max_length=NOTE_CHARS * 2)
    due_on: date | None = Field(None, examples=["2027-03-31"])


class ManyReviews(ReviewNew):
    """Reviewers and runs."""

    runs: list[Number] = Field(min_length=1, max_length=MOST_RUNS, examples=[[12, 13]])


class ReviewShape(Schema):
    """A review request for one person and run."""

    id: int
    run: int
    reviewer: int
    reviewer_name: str
    asked_by: str | None = Field(description="Null if a rule created the request.")
    rule: str | None = Field(description="A description of the rule.")
    note: str
    asked_at: datetime
    due_on: date | None
    closed_at: datetime | None
    taken_back: bool = Field(description="Closed without a review.")


class Asked(Schema):
    """The new requests; duplicates are skipped."""

    asked: list[ReviewShape]


class Queue(Schema):
    """Your review queue, most urgent first."""

    items: list[ReviewShape]
    count: int = Field(description="Total number of requests.")


class ReviewQuery(Paging):
    """Filters of requests."""

    open: bool | None = Field(None, description="Only open or only closed requests.")
    mine: bool = Field(False, description="Only requests to you.")
    run: int | None = Field(None, ge=1, le=LARGEST_NUMBER)


class RuleNew(Schema):
    """What a rule matches when a run finishes, and its reviewers."""

    kind: str = Field(max_length=20, description="failed, signal or sample.", examples=["sample"])
    reviewers: list[Number] = PEOPLE
    rubric: str = Field("", max_length=80, description="The rubric's slug; required for failed.")
    percent: int | None = Field(None, ge=1, le=100, description="For sample.")
    due_days: int | None = Field(None, ge=0, le=MOST_DUE_DAYS)


class RuleShape(Schema):
    """An active rule."""

    id: int
    kind: str
    words: str
    rubric: str | None
    percent: int | None
    due_days: int | None
    reviewers: list[int]
    created_at: datetime


@router.get("/reviews", response=Page[ReviewShape])
@member()
def review_list(request: ApiRequest, query: Query[ReviewQuery]) -> Page[ReviewShape]:
    """List review requests. Newest first."""
    rows = without_hidden(ReviewRequest.objects.filter(project=request.project), "run")
    if query.open is not None:
        rows = rows.filter(closed_at__isnull=query.open)
    if query.mine:
        rows = rows.filter(reviewer=request.user)
    if query.run is not None:
        rows = rows.filter(run=query.run)
    found, following = page_by_number(whole(rows), query)
    return Page[ReviewShape](items=[review_shape(row) for row in found], next=following)


@router.post("/reviews", response={201: Asked})
@member("editor")
@creates()
def reviews_new(request: ApiRequest, body: ManyReviews) -> Asked:
    """Request reviews of many runs. All or nothing; duplicates are skipped."""
    asked = runs_review(
        project=request.project,
        runs=runs_named(request.project, body.runs),
        reviewers=members_named(request.project, body.reviewers),
        user=request.user,
        note=body.note,
        due_on=body.due_on,
    )
    return Asked(asked=[review_shape(row) for row in asked])


@router.get("/reviews/queue", response=Queue)
@member()
def review_queue(request: ApiRequest) -> Queue:
    """Get your review queue. The 100 most urgent."""
    found = queue_start(request.user, request.project, request.membership, MOST_WAITING)
    count = len(found)
    if count == MOST_WAITING:
        count = waiting_for(request.user, request.project).count()
    return Queue(items=[review_shape(entry.row) for entry in found], count=count)


@router.post("/reviews/{int:review}/take-back", response={204: None})
@member()
def review_taken_back(request: ApiRequest, review: int) -> Status[None]:
    """Cancel a review request. For the requester, the rule's creator and owners. 409 if it is closed."""
    if not review_take_back(project=request.project, number=review, membership=request.membership):
        raise Refused(409, "The request was already closed.", "closed")
    return Status(204, None)


@router.post("/runs/{int:run}/reviews", response={201: Asked})
@member("editor")
@creates()
def review_new(request: ApiRequest, run: int, body: ReviewNew) -> Asked:
    """Request reviews of a run."""
    found = run_or_404(request, run, whole=False)
    people = members_named(request.project, body.reviewers)
    asked = reviews_ask(run=found, reviewers=people, user=request.user, note=body.note, due_on=body.due_on)
    return Asked(asked=[review_shape(row) for row in asked])


@router.post("/runs/{int:run}/reviews/done", response={204: None})
@member()
def review_closed(request: ApiRequest, run: int) -> Status[None]:
    """Complete your review of a run. 409 if it is not in your queue."""
    if not review_done(run=run_or_404(request, run, whole=False), user=request.user):
        raise Refused(409, f"Run {run} is not in your queue.", "closed")
    return Status(204, None)


@router.get("/review-rules", response=Page[RuleShape])
@member()
def review_rule_list(request: ApiRequest, paging: Query[Paging]) -> Page[RuleShape]:
    """List active review rules."""
    rows = ReviewRule.objects.filter(project=request.project, ended_at__isnull=True)
    rows = rows.select_related("rubric").prefetch_related("reviewers")
    found, following = page_by_number(rows, paging, newest_first=False)
    return Page[RuleShape](items=[rule_shape(row) for row in found], next=following)


@router.post("/review-rules", response={201: RuleShape})
@member("editor")
@creates()
def review_rule_new(request: ApiRequest, body: RuleNew) -> RuleShape:
    """Create a review rule. Applies to runs that finish from now on."""
    rule = review_rule_create(
        project=request.project,
        kind=body.kind,
        reviewers=members_named(request.project, body.reviewers),
        user=request.user,
        rubric=rubric_named(request.project, body.rubric),
        percent=body.percent,
        due_days=body.due_days,
    )
    return rule_shape(rule)


@router.post("/review-rules/{int:rule}/end", response={204: None})
@member("editor")
def review_rule_ended(request: ApiRequest, rule: int) -> Status[None]:
    """End a review rule. Its open requests stay. 409 if it has already ended."""
    if not review_rule_end(project=request.project, number=rule, user=request.user):
        raise Refused(409, "The rule had already ended.", "closed")
    return Status(204, None)


def runs_named(project: Project, numbers: list[int]) -> list[Run]:
    """The project's runs in this order; raises 422 for unknown ids and runs you score blind."""
    found = list(shown_runs(project).filter(pk__in=numbers).only("title", "project_id").order_by("pk"))
    missing = sorted(set(numbers) - {run.pk for run in found})
    if missing:
        raise ValidationError({"runs": f"No run {missing[0]} in this project."})
    for run in found:
        run.project = project
    return found


def members_named(project: Project, numbers: Sequence[int]) -> list[User]:
    """Members by id, in this order; raises 422 for others."""
    wanted = list(dict.fromkeys(numbers))
    found = {person.pk: person for person in User.objects.filter(pk__in=wanted, memberships__project=project)}
    for number in wanted:
        if number not in found:
            raise ValidationError({"reviewers": f"No member of this project has the ID {number}."})
    return [found[number] for number in wanted]


def rubric_named(project: Project, slug: str) -> Rubric | None:
    if not slug:
        return None
    found = Rubric.objects.filter(project=project, slug=slug).first()
    if found is None:
        raise ValidationError({"rubric": "Rubric not found in this project."})
    return found


def whole(rows: QuerySet[ReviewRequest]) -> QuerySet[ReviewRequest]:
    return rows.select_related("reviewer", "asked_by", "rule", "rule__rubric")


def review_shape(row: ReviewRequest) -> ReviewShape:
    return ReviewShape(
        id=row.pk,
        run=row.run_id,
        reviewer=row.reviewer_id,
        reviewer_name=row.reviewer.display_name,
        asked_by=row.asked_by.display_name if row.asked_by else None,
        rule=rule_label(row.rule) if row.rule else None,
        note=row.note,
        asked_at=row.asked_at,
        due_on=row.due_on,
        closed_at=row.closed_at,
        taken_back=row.taken_back,
    )


def rule_shape(row: ReviewRule) -> RuleShape:
    return RuleShape(
        id=row.pk,
        kind=row.kind,
        words=rule_label(row),
        rubric=row.rubric.slug if row.rubric else None,
        percent=row.percent,
        due_days=row.due_days,
        reviewers=[person.pk for person in row.reviewers.all()],
        created_at=row.created_at,
    )
