"""Comment threads for the run page: those of the open round and of the whole run, bounded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Case, Count, Exists, F, OuterRef, Q, Subquery, Sum, Value, When, Window
from django.db.models.functions import RowNumber
from django.utils.safestring import SafeString

from refinement.anchoring import Quotation, line_of, passage_of
from refinement.engine.types import Rubric
from refinement.models import Comment, Membership, Run, Thread, ThreadPlace, User
from refinement.models.people.people import initials_of
from refinement.rendering import markdown
from refinement.selectors.people.names import all_but_names
from refinement.selectors.runs.words import capital_round_name

MOST_THREADS = 10  # per page; "show all" loads more
MOST_COMMENTS = 3  # newest of each thread
ALL_THREADS = 300
ALL_COMMENTS = 1_000  # of all these threads together, in addition to the newest of each
WHOLE_THREAD = 500  # of the one thread to show in full
MOST_OFFERED = 8  # suggested names for @


@dataclass(frozen=True, slots=True)
class Reader:
    """The current user, and what they may do with threads."""

    user: User
    is_owner: bool


@dataclass(frozen=True, slots=True)
class CommentLine:
    """A comment. A deleted one keeps its place but not its text."""

    row: Comment
    name: str
    initials: str
    html: SafeString | None  # None if too deeply nested or too large to render
    to: tuple[str, ...]  # mentioned users
    mine: bool
    may_delete: bool
    may_see_history: bool


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """A thread with its newest comments."""

    row: Thread
    about: str
    round_name: str  # if it is not the shown round
    line: int | None  # line of the shown text where its passage starts
    start: int  # where in that text its passage starts
    found: str  # same, alike or missing; empty if it quotes no passage
    comments: tuple[CommentLine, ...]
    earlier: int  # older comments

    @property
    def state(self) -> str:
        return "resolved" if self.row.is_resolved else "open"

    @property
    def count(self) -> int:
        return self.earlier + len(self.comments)


@dataclass(frozen=True, slots=True)
class CommentThreads:
    """The threads of a page."""

    threads: tuple[ThreadLine, ...] = ()
    more: bool = False  # there are threads that are not shown
    everything: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)  # comments by round number; "" is the run

    @property
    def open(self) -> tuple[ThreadLine, ...]:
        return tuple(thread for thread in self.threads if not thread.row.is_resolved)

    @property
    def beside(self) -> tuple[ThreadLine, ...]:
        """Threads on passages of the shown text, in its order."""
        found = [thread for thread in self.threads if thread.line is not None]
        return tuple(sorted(found, key=lambda thread: thread.start))

    @property
    def below(self) -> tuple[ThreadLine, ...]:
        """All others, such as those on the round as a whole."""
        return tuple(thread for thread in self.threads if thread.line is None)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def marks(self) -> list[tuple[int, int]]:
        """Lines of the shown text with the thread on each."""
        return [(thread.line, thread.row.pk) for thread in self.threads if thread.line is not None]


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown next to the threads: a round's number and text, or neither."""

    run: Run
    rubric: Rubric
    number: int | None = None
    text: str = ""


def comment_threads(
    shown: Shown, reader: Reader, *, everything: bool = False, thread: int | None = None
) -> CommentThreads:
    """Threads on the round, on the run, and open ones on passages of other rounds. Four queries.

    `thread` is shown with all its comments, even if it belongs to another round.
    """
    most = ALL_THREADS if everything else MOST_THREADS
    found = _threads(shown.run.pk, shown.number, thread, everything)
    rows = found[:most]
    comments = _comments(rows, thread, everything=everything)
    called = called_in([comment for each in comments.values() for comment in each])
    return CommentThreads(
        threads=tuple(thread_line(shown, reader, row, comments.get(row.pk, []), called) for row in rows),
        more=len(found) > most,
        everything=everything,
        counts=comment_counts(shown.run),
    )


def comment_counts(run: Run) -> dict[str, int]:
    """Number of comments on each round; "" is the run as a whole."""
    found = {"" if number is None else str(number): int(count or 0) for number, count in _counted(run.pk)}
    return {number: count for number, count in found.items() if count}


def _counted(run: int) -> list[tuple[int | None, int | None]]:
    """Counts per thread: a join would read every comment row."""
    alive = Comment.objects.filter(thread=OuterRef("pk"), deleted_at=None).order_by().values("thread")
    counts = Subquery(alive.annotate(count=Count("id")).values("count"))
    return list(
        Thread.objects.filter(run=run).order_by().values_list("round_number").annotate(total=Sum(counts))
    )


def _threads(run: int, number: int | None, wanted: int | None, everything: bool) -> list[Thread]:
    """One more than shown, to know whether there are more."""
    alive = Comment.objects.filter(thread=OuterRef("pk"), deleted_at=None)
    here = Q(place=ThreadPlace.RUN) | Q(round_number=number)
    elsewhere = Q(place=ThreadPlace.PASSAGE, resolved_at=None)
    rows = Thread.objects.filter(here | elsewhere | Q(pk=wanted), Exists(alive), run=run)
    rank = Case(When(pk=wanted, then=Value(0)), When(here, then=Value(1)), default=Value(2))
    settled = Case(When(resolved_at=None, then=Value(0)), default=Value(1))
    rows = rows.select_related("resolved_by").defer(*all_but_names("resolved_by"))
    ordered = rows.order_by(rank, settled, "-id")
    return list(ordered[: 1 + (ALL_THREADS if everything else MOST_THREADS)])


def _comments(threads: Sequence[Thread], whole: int | None, *, everything: bool) -> dict[int, list[Comment]]:
    """The newest comments of each thread, oldest first; all of one. `count` is the total."""
    if not threads:
        return {}
    found: dict[int, list[Comment]] = {}
    for row in _newest(tuple(thread.pk for thread in threads), whole, everything):
        found.setdefault(row.thread_id, []).append(row)
    return found


def _newest(threads: tuple[int, ...], whole: int | None, everything: bool) -> list[Comment]:
    newest = Window(RowNumber(), partition_by=F("thread"), order_by=F("id").desc())
    count = Window(Count("id"), partition_by=F("thread"))
    rows = Comment.objects.filter(thread__in=threads).annotate(place=newest, count=count)
    shown = Q(place__lte=MOST_COMMENTS) | Q(thread=whole, place__lte=WHOLE_THREAD)
    if everything:
        rows = rows.annotate(recent=Window(RowNumber(), order_by=F("id").desc()))
        shown |= Q(recent__lte=ALL_COMMENTS)
    return list(rows.filter(shown).select_related("author").defer(*all_but_names("author")).order_by("id"))


def called_in(comments: Sequence[Comment]) -> dict[int, tuple[str, ...]]:
    """Names of the mentioned users, by comment. One query."""
    called: dict[int, tuple[str, ...]] = {}
    for row in _mentions(tuple(comment.pk for comment in comments)) if comments else ():
        called[row.comment_id] = (*called.get(row.comment_id, ()), row.user.display_name)
    return called


def _mentions(comments: tuple[int, ...]) -> list[Any]:
    rows = Comment.mentioned.through.objects.filter(comment__in=comments)
    return list(rows.select_related("user").defer(*all_but_names("user")).order_by("id"))


def thread_line(
    shown: Shown,
    reader: Reader,
    row: Thread,
    comments: Sequence[Comment],
    called: Mapping[int, tuple[str, ...]],
) -> ThreadLine:
    """The thread as displayed, and whether its passage is in the shown text."""
    elsewhere = row.round_number is not None and row.round_number != shown.number
    line = ThreadLine(
        row=row,
        about=about_label(shown.rubric, row),
        round_name=capital_round_name(row.round_number or 0) if elsewhere else "",
        line=None,
        start=0,
        found="",
        comments=tuple(comment_line(each, reader, called.get(each.pk, ())) for each in comments),
        earlier=comments[0].count - len(comments) if comments else 0,  # type: ignore[attr-defined]
    )
    if row.place != ThreadPlace.PASSAGE:
        return line
    quotation = Quotation(row.quote, row.quote_before, row.quote_after, row.quote_start)
    passage = passage_of(quotation, shown.text)
    if passage is None:
        return replace(line, found="missing")
    found = "same" if passage.same else "alike"
    return replace(line, found=found, line=line_of(passage, shown.text), start=passage.start)


def comment_line(row: Comment, reader: Reader, called: tuple[str, ...] = ()) -> CommentLine:
    mine, gone = row.author_id == reader.user.pk, row.deleted_at is not None
    return CommentLine(
        row=row,
        name=row.author.display_name if row.author else row.author_name,
        initials=initials_of(row.author.display_name if row.author else row.author_name),
        html=None if gone else markdown(row.body),
        to=called,
        mine=mine,
        may_delete=not gone and (mine or reader.is_owner),
        # Only the author and owners can still read a deleted comment.
        may_see_history=row.version > 1 and (not gone or mine or reader.is_owner),
    )


def about_label(rubric: Rubric, row: Thread) -> str:
    """What the thread is about."""
    if row.place == ThreadPlace.CRITERION:
        names = {criterion.key: criterion.name for criterion in rubric.criteria}
        return names.get(row.key, row.key)
    if row.place == ThreadPlace.ISSUE:
        return f"Issue {(row.position or 0) + 1}"
    words = {
        ThreadPlace.RUN: "The run",
        ThreadPlace.ROUND: capital_round_name(row.round_number or 0),
        ThreadPlace.ASI: "Suggested change",
        ThreadPlace.PASSAGE: "A passage",
    }
    return words[ThreadPlace(row.place)]


def mention_suggestions(run_project: int, typed: str) -> list[dict[str, str]]:
    """Members whose name, or a word of it, starts with the typed text, and what to insert for each."""
    wanted = " ".join(typed.split())[:120]
    rows = Membership.objects.filter(project=run_project, user__is_active=True).select_related("user")
    begins = Q(user__name__istartswith=wanted) | Q(user__name__icontains=f" {wanted}")
    begins |= Q(user__email__istartswith=wanted) & ~Q(user__email__icontains="@" + wanted)
    people = [row.user for row in rows.filter(begins).order_by("user__name", "user__email")[:MOST_OFFERED]]
    return [
        {
            "name": person.display_name,
            "mail": person.email.partition("@")[0],
            "write": written(person, people),
        }
        for person in people
    ]


def written(person: User, others: Sequence[User]) -> str:
    """The name, or the email's local part if two members share the name."""
    name = person.display_name
    shared = sum(other.display_name.casefold() == name.casefold() for other in others) > 1
    return person.email.partition("@")[0] if shared else name
