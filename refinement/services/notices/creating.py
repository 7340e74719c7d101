"""Creates notices. People get none about their own actions, and none after leaving the project."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.conf import settings

from refinement.engine.sentences import round_name
from refinement.engine.types import Outcome
from refinement.models import (
    Comment,
    Decision,
    DecisionKind,
    Experiment,
    Membership,
    Notice,
    NoticeChoice,
    NoticeKind,
    ReviewRequest,
    Run,
    User,
)
from refinement.selectors.trust.gate import unproven_pass
from refinement.texts import one_line

NAME_CHARS = 80
TITLE_CHARS = 100
REASON_CHARS = 200
ENDED: Mapping[str, str] = {
    Outcome.PASS: "passed",
    Outcome.FAIL: "ended below the pass mark",
    Outcome.DONE: "is done",
    Outcome.ERROR: "ended in an error",
    Outcome.CANCELLED: "was stopped",
}
DECIDED = {
    DecisionKind.RESULT: "chose another round as the result of",
    DecisionKind.APPROVED: "approved",
    DecisionKind.CHANGES: "requested changes to",
    DecisionKind.REJECTED: "rejected",
    DecisionKind.WITHDRAWN: "withdrew a decision on",
}


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened to a run or an experiment, and its notice text."""

    kind: NoticeKind
    about: Run | Experiment
    text: str
    actor: User | None = None
    actor_name: str = ""
    comment: Comment | None = None

    @property
    def subject(self) -> dict[str, int]:
        """The notice's column that names what it is about, with its key."""
        name = "experiment_id" if isinstance(self.about, Experiment) else "run_id"
        return {name: self.about.pk}


def notice_comment(comment: Comment, *, mentioned: Collection[int], replied: bool = True) -> None:
    """Notify the people a comment mentions and earlier participants of its thread, each once."""
    run, name = comment.run, one_line(comment.author_name, NAME_CHARS)
    notified = set(Notice.objects.filter(comment=comment).values_list("user_id", flat=True))
    text = f"{name} mentioned you in a comment on {run_label(run)}."
    _notify(_comment_news(comment, NoticeKind.MENTION, text), set(mentioned) - notified)
    if not replied:
        return
    earlier = Comment.objects.filter(thread=comment.thread_id, id__lt=comment.pk, author__isnull=False)
    others = set(earlier.order_by().values_list("author_id", flat=True).distinct())
    text = f"{name} replied in your thread on {run_label(run)}."
    _notify(_comment_news(comment, NoticeKind.REPLY, text), others - notified - set(mentioned))


def _comment_news(comment: Comment, kind: NoticeKind, text: str) -> News:
    return News(kind, comment.run, text, comment.author, comment.author_name, comment)


def notice_review(request: ReviewRequest) -> None:
    """Notify the reviewer of a request. Joins the caller's transaction."""
    who = one_line(request.asked_by.display_name, NAME_CHARS) if request.asked_by else "A review rule"
    due = f" It is due on {request.due_on:%-d %B %Y}." if request.due_on else ""
    text = f"{who} requested your review of {run_label(request.run)}.{due}"
    name = request.asked_by.display_name if request.asked_by else ""
    _notify(News(NoticeKind.REVIEW, request.run, text, request.asked_by, name), [request.reviewer_id])


def notice_decision(decision: Decision) -> None:
    """Notify the person who launched the run of a decision. Joins the caller's transaction."""
    run, name = decision.run, one_line(decision.author_name, NAME_CHARS)
    text = f"{name} {DECIDED[DecisionKind(decision.kind)]} {run_label(run)}."
    _notify(News(NoticeKind.DECISION, run, text, decision.author, decision.author_name), _launcher(run))


def notice_run_ended(run: Run, *, outcome: str, by: User | None = None) -> None:
    """Notify the person who launched the run of its end. `by` is the person who stopped it."""
    name = one_line(by.display_name, NAME_CHARS) if by else ""
    how = f"was stopped by {name}" if by else ENDED.get(outcome, "ended")
    text = f"{subject(run)} {how}. {unproven_pass(run, outcome)}".strip()
    _notify(News(NoticeKind.RUN_ENDED, run, text, by, by.display_name if by else ""), _launcher(run))


def notice_run_waits(run: Run, *, reason: str) -> None:
    """Notify the person who launched the run that it is waiting, unless such a notice is still unread."""
    people = _launcher(run)
    if (
        people
        and not Notice.objects.filter(
            user_id__in=people, run=run, kind=NoticeKind.RUN_WAITS, inbox=True, read_at=None
        ).exists()
    ):
        text = f"{subject(run)} is waiting for a model server: {one_line(reason, REASON_CHARS)}"
        _notify(News(NoticeKind.RUN_WAITS, run, text), people)


def notice_run_asks(run: Run, *, round_number: int) -> None:
    """Notify the person who launched the run that it has stopped improving and asks whether to go on."""
    text = (
        f"{subject(run)} has not improved lately and is paused after {round_name(round_number)}. "
        "Stop it, or continue with two more rounds judged by a board?"
    )
    _notify(News(NoticeKind.RUN_ASKS, run, text), _launcher(run))


def notice_experiment(experiment: Experiment, how: str, *, by: User | None = None) -> None:
    """Notify the person who launched the experiment of its end, or that it paused itself."""
    person = experiment.created_by_id
    text = f"Experiment “{one_line(experiment.name, TITLE_CHARS).rstrip('.')}” {how}"
    name = by.display_name if by else ""
    _notify(News(NoticeKind.EXPERIMENT, experiment, text, by, name), [person] if person else [])


def run_label(run: Run) -> str:
    """The run's number and title."""
    title = one_line(run.title, TITLE_CHARS).rstrip(".")
    return f"run {run.pk}, “{title}”" if title else f"run {run.pk}"


def subject(run: Run) -> str:
    """The run's label at the start of a sentence, with a comma after the title."""
    label = run_label(run)
    return f"R{label[1:]}," if label.endswith("”") else f"R{label[1:]}"


def _launcher(run: Run) -> list[int]:
    return [] if run.created_by_id is None else [run.created_by_id]


def _notify(news: News, people: Collection[int]) -> None:
    """Create a notice for each of these people who is a member and wants this kind."""
    wanted = {person for person in people if news.actor is None or person != news.actor.pk}
    if not wanted:
        return
    members = list(
        Membership.objects.filter(project=news.about.project_id, user__in=wanted, user__is_active=True)
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
        project_id=news.about.project_id,
        **news.subject,
        comment=news.comment,
        kind=news.kind,
        actor_name=news.actor_name[:120],
        text=news.text,
        inbox=choice is None or choice.inbox,
        mail_due=settings.MAIL_CONFIGURED and (choice is None or choice.mail),
    )
