"""Review requests for pages: a user's queue, others' requests, and those of one run."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from refinement.models import Membership, Project, ReviewRequest, ReviewRule, User
from refinement.models.runs.runs import Run
from refinement.selectors.people.names import all_but_names
from refinement.selectors.reviews.blindness import without_hidden
from refinement.selectors.reviews.people_gap import unscored_requests
from refinement.selectors.reviews.words import rule_label

MOST_WAITING = 100
MOST_OF_OTHERS = 50
MOST_CLOSED = 30
MOST_ON_RUN = 50
MOST_QUEUED = 500
MOST_RULES_SHOWN = 100
LONG_TEXTS = ("run__task", "run__seed", "run__snapshot", "run__calibration", "run__why")
FOLLOWED = ("reviewer", "asked_by", "rule", "rule__rubric")
SOONEST = (F("due_on").asc(nulls_last=True), F("id").asc())


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """A review request with its texts."""

    row: ReviewRequest
    asker: str
    reason: str  # the rule that created it
    may_take_back: bool


@dataclass(frozen=True, slots=True)
class ReviewsPage:
    mine: list[ReviewLine]
    mine_count: int  # of all, also those that are not shown
    others: list[ReviewLine]
    more_others: bool
    closed: list[ReviewLine]

    @property
    def more_mine(self) -> int:
        return self.mine_count - len(self.mine)


@dataclass(frozen=True, slots=True)
class Place:
    """A run's position in a user's queue."""

    number: int  # from 1; 0 if the run is not in the queue
    count: int
    previous: int | None
    following: int | None


def waiting_for(user: User, project: Project) -> QuerySet[ReviewRequest]:
    """The user's review queue in the project, most urgent first."""
    rows = ReviewRequest.objects.filter(reviewer=user, project=project, closed_at__isnull=True)
    return without_hidden(rows, "run").order_by(*SOONEST)


def queue_start(user: User, project: Project, membership: Membership, most: int) -> list[ReviewLine]:
    """The first requests of the user's queue. One query."""
    return _in_words(_whole(waiting_for(user, project), user)[:most], membership)


def reviews_page(membership: Membership) -> ReviewsPage:
    """Everything on the reviews page. Four queries."""
    user, project = membership.user, membership.project
    mine = queue_start(user, project, membership, MOST_WAITING)
    count = len(mine) if len(mine) < MOST_WAITING else waiting_for(user, project).count()
    rows = _whole(without_hidden(ReviewRequest.objects.filter(project=project), "run"), user)
    open_rows = rows.filter(closed_at__isnull=True).exclude(reviewer=user).order_by(*SOONEST)
    others = _in_words(open_rows[: MOST_OF_OTHERS + 1], membership)
    closed = rows.filter(closed_at__isnull=False).order_by("-closed_at", "-id")[:MOST_CLOSED]
    return ReviewsPage(
        mine=mine,
        mine_count=count,
        others=others[:MOST_OF_OTHERS],
        more_others=len(others) > MOST_OF_OTHERS,
        closed=_in_words(closed, membership),
    )


def reviews_of(run: Run, membership: Membership) -> list[ReviewLine]:
    """The run's review requests: open ones first, then newest first. One query."""
    return _in_words(_asked_about(run.pk), membership)


def _asked_about(run: int) -> list[ReviewRequest]:
    rows = ReviewRequest.objects.filter(run=run).select_related(*FOLLOWED)
    rows = rows.defer(*all_but_names("reviewer", "asked_by"))
    return list(rows.order_by(F("closed_at").desc(nulls_first=True), "-id")[:MOST_ON_RUN])


def place_of(run_id: int, user: User, project: Project) -> Place:
    """The run's position in the user's queue, with its neighbours. One query."""
    queue = list(waiting_for(user, project).values_list("run_id", flat=True)[:MOST_QUEUED])
    if run_id not in queue:
        return Place(0, len(queue), None, queue[0] if queue else None)
    place = queue.index(run_id)
    return Place(
        number=place + 1,
        count=len(queue),
        previous=queue[place - 1] if place else None,
        following=queue[place + 1] if place + 1 < len(queue) else None,
    )


def projects_with_reviews(user: int) -> list[Project]:
    """The user's projects, each with the number of reviews waiting for them."""
    waiting = ReviewRequest.objects.filter(
        project=OuterRef("pk"), reviewer=user, closed_at__isnull=True
    ).order_by()
    counted = waiting.values("project").annotate(waiting=Count("pk")).values("waiting")
    projects = Project.objects.filter(memberships__user=user)
    return list(projects.annotate(reviews_waiting=Coalesce(Subquery(counted), 0)))


def rules_of(project: Project) -> list[tuple[ReviewRule, str, list[str]]]:
    """Active rules with their descriptions and reviewers' names. Two queries."""
    rows = ReviewRule.objects.filter(project=project, ended_at__isnull=True)
    rows = rows.select_related("rubric", "created_by").prefetch_related("reviewers")[:MOST_RULES_SHOWN]
    members = set(Membership.objects.filter(project=project).values_list("user_id", flat=True))
    return [
        (rule, rule_label(rule), [_name(person, members) for person in rule.reviewers.all()]) for rule in rows
    ]


def _name(person: User, members: set[int]) -> str:
    gone = person.pk not in members or not person.is_active
    return f"{person.display_name} (left)" if gone else person.display_name


def _whole(rows: QuerySet[ReviewRequest], reader: User) -> QuerySet[ReviewRequest]:
    """With everything a list row shows, without the runs' long texts.

    `unscored` says that the reader is asked to score the run first, so its decision is not shown.
    """
    rows = rows.annotate(unscored=Exists(unscored_requests(reader.pk).filter(run=OuterRef("run"))))
    return rows.select_related("run", "run__rubric", *FOLLOWED).defer(*LONG_TEXTS)


def _in_words(
    rows: Sequence[ReviewRequest] | QuerySet[ReviewRequest], membership: Membership
) -> list[ReviewLine]:
    return [_line(row, membership) for row in rows]


def _line(row: ReviewRequest, membership: Membership) -> ReviewLine:
    asker = row.rule.created_by_id if row.rule else row.asked_by_id
    return ReviewLine(
        row=row,
        asker="a rule" if row.rule else row.asked_by.display_name if row.asked_by else "a former member",
        reason=rule_label(row.rule) if row.rule else "",
        may_take_back=row.closed_at is None and (membership.is_owner or asker == membership.user_id),
    )
