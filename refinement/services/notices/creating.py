"""What people are told, once for each thing: never of their own doing, and never after they have left."""

from collections.abc import Collection
from dataclasses import dataclass

from django.conf import settings

from refinement.models import (
    Comment,
    Decision,
    DecisionKind,
    Membership,
    Notice,
    NoticeChoice,
    NoticeKind,
    ReviewRequest,
    Run,
    User,
)
from refinement.texts import one_line

NAME_CHARS = 80
TITLE_CHARS = 100
REASON_CHARS = 200
DECIDED = {
    DecisionKind.RESULT: "made another round the result of",
    DecisionKind.APPROVED: "approved",
    DecisionKind.CHANGES: "asks for changes to",
    DecisionKind.REJECTED: "rejected",
    DecisionKind.WITHDRAWN: "took a decision back about",
}


@dataclass(frozen=True, slots=True)
class News:
    """One thing that happened to a run, as a sentence for those who should know."""

    kind: NoticeKind
    run: Run
    text: str
    actor: User | None = None
    actor_name: str = ""
    comment: Comment | None = None


def notice_comment(comment: Comment, *, mentioned: Collection[int], replied: bool = True) -> None:
    """Tells whom a comment mentions, and those who talked in its thread before; each of them once."""
    run, name = comment.run, one_line(comment.author_name, NAME_CHARS)
    told = set(Notice.objects.filter(comment=comment).values_list("user_id", flat=True))
    words = f"{name} mentions you in a comment on {run_words(run)}."
    _tell(_said(comment, NoticeKind.MENTION, words), set(mentioned) - told)
    if not replied:
        return
    earlier = Comment.objects.filter(thread=comment.thread_id, id__lt=comment.pk, author__isnull=False)
    others = set(earlier.order_by().values_list("author_id", flat=True).distinct())
    words = f"{name} answers in a thread of yours on {run_words(run)}."
    _tell(_said(comment, NoticeKind.REPLY, words), others - told - set(mentioned))


def _said(comment: Comment, kind: NoticeKind, words: str) -> News:
    return News(kind, comment.run, words, comment.author, comment.author_name, comment)


def notice_review(request: ReviewRequest) -> None:
    """Tells a reviewer that they are asked; in the transaction of the request."""
    who = one_line(request.asked_by.display_name, NAME_CHARS) if request.asked_by else "A rule of the project"
    due = f" It is due on {request.due_on:%-d %B %Y}." if request.due_on else ""
    words = f"{who} asks you to review {run_words(request.run)}.{due}"
    name = request.asked_by.display_name if request.asked_by else ""
    _tell(News(NoticeKind.REVIEW, request.run, words, request.asked_by, name), [request.reviewer_id])


def notice_decision(decision: Decision) -> None:
    """Tells who launched a run what was decided about it; in the transaction of the decision."""
    run, name = decision.run, one_line(decision.author_name, NAME_CHARS)
    words = f"{name} {DECIDED[DecisionKind(decision.kind)]} {run_words(run)}."
    _tell(News(NoticeKind.DECISION, run, words, decision.author, decision.author_name), _launcher(run))


def notice_run_ended(run: Run, *, outcome: str, by: User | None = None) -> None:
    """Tells who launched a run how it ended; `by` is who cancelled it."""
    name = one_line(by.display_name, NAME_CHARS) if by else ""
    how = f"was cancelled by {name}" if by else f"has ended with {outcome}"
    words = f"{subject(run)} {how}."
    _tell(News(NoticeKind.RUN_ENDED, run, words, by, by.display_name if by else ""), _launcher(run))


def notice_run_waits(run: Run, *, reason: str) -> None:
    """Tells who launched a run that it waits; once, until they have read that."""
    people = _launcher(run)
    if (
        people
        and not Notice.objects.filter(
            user_id__in=people, run=run, kind=NoticeKind.RUN_WAITS, inbox=True, read_at=None
        ).exists()
    ):
        words = f"{subject(run)} waits for a model server: {one_line(reason, REASON_CHARS)}"
        _tell(News(NoticeKind.RUN_WAITS, run, words), people)


def run_words(run: Run) -> str:
    """The run's number and what it is about."""
    title = one_line(run.title, TITLE_CHARS).rstrip(".")
    return f"run {run.pk}, “{title}”" if title else f"run {run.pk}"


def subject(run: Run) -> str:
    """The same at the beginning of a sentence, where a title stands between commas."""
    words = run_words(run)
    return f"R{words[1:]}," if words.endswith("”") else f"R{words[1:]}"


def _launcher(run: Run) -> list[int]:
    return [] if run.created_by_id is None else [run.created_by_id]


def _tell(news: News, people: Collection[int]) -> None:
    """A row for each of these people who is in the project and wants to hear of this kind."""
    wanted = {person for person in people if news.actor is None or person != news.actor.pk}
    if not wanted:
        return
    members = list(
        Membership.objects.filter(project=news.run.project_id, user__in=wanted, user__is_active=True)
        .order_by("user_id")
        .values_list("user_id", flat=True)
    )
    choices = {
        choice.user_id: choice for choice in NoticeChoice.objects.filter(user__in=members, kind=news.kind)
    }
    rows = [_row(news, person, choices.get(person)) for person in members]
    Notice.objects.bulk_create([row for row in rows if row.inbox or row.mail_due])


def _row(news: News, person: int, choice: NoticeChoice | None) -> Notice:
    return Notice(
        user_id=person,
        project_id=news.run.project_id,
        run_id=news.run.pk,
        comment=news.comment,
        kind=news.kind,
        actor_name=news.actor_name[:120],
        text=news.text,
        inbox=choice is None or choice.inbox,
        mail_due=settings.MAIL_CONFIGURED and (choice is None or choice.mail),
    )
