"""Share links of a project, and what a visitor may read."""

from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import QuerySet
from django.utils.safestring import SafeString

from refinement.engine.types import Outcome, Rubric
from refinement.models import (
    Call,
    Comment,
    Decision,
    Project,
    Round,
    Run,
    RunStatus,
    ShareLink,
    User,
)
from refinement.models.reviews.decisions import DecisionKind
from refinement.rendering import markdown
from refinement.selectors.reviews.blindness import reads_blind as hidden_from
from refinement.selectors.runs.boards.rounds import BoardFacts
from refinement.selectors.runs.calls import CallLine, CallTexts, call_lines, call_texts
from refinement.selectors.runs.page import RunFacts
from refinement.selectors.runs.rounds import RoundFacts, round_facts
from refinement.selectors.runs.words import ORIGIN_LABELS, REASON_LABELS, capital_round_name, state_sentence

MOST_LINKS = 100
MOST_COMMENTS = 200
MOST_DECISIONS = 50
MOST_CALLS = 16
QUOTE_CHARS = 300
DECISION_CHIPS = {
    DecisionKind.RESULT: "chip-info",
    DecisionKind.APPROVED: "chip-ok",
    DecisionKind.CHANGES: "chip-warn",
    DecisionKind.REJECTED: "chip-bad",
    DecisionKind.WITHDRAWN: "",
}


@dataclass(frozen=True, slots=True)
class SharedComment:
    """A comment and what it is about."""

    author: str
    at: datetime
    answers: bool  # not the first comment of its thread
    about: str
    quote: str
    resolved: bool
    rendered: SafeString | None
    body: str


@dataclass(frozen=True, slots=True)
class SharedDecision:
    words: str
    look: str
    about: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SharedCall:
    line: CallLine
    texts: CallTexts


def links_of_run(run: Run) -> QuerySet[ShareLink]:
    """The run's newest links with their creators."""
    return ShareLink.objects.filter(run=run).select_related("created_by")[:MOST_LINKS]


def links_of_project(project: Project) -> QuerySet[ShareLink]:
    """The project's newest links with their runs and creators."""
    rows = ShareLink.objects.filter(project=project).select_related("created_by", "run")
    return rows.only(
        *("digest", "prefix", "note", "show_prompts", "show_comments", "created_at", "expires_at"),
        *("revoked_at", "opened", "last_opened_at", "project_id", "run__title", "run__project_id"),
        *("created_by__name", "created_by__email"),
    )[:MOST_LINKS]


def reads_blind(user: object, run_id: int) -> bool:
    """Whether this user scores or labels the run blind."""
    if not isinstance(user, User):
        return False
    return hidden_from(user.pk, run_id)


def shared_sentence(run: Run, rubric: Rubric) -> str:
    """How the run ended, without error details or people's names."""
    if run.outcome in (Outcome.ERROR, Outcome.CANCELLED):
        return f"The run stopped early: {REASON_LABELS.get(run.stop_reason, 'it failed')}."
    if run.status == RunStatus.WAITING:
        return "The run is waiting for a model."
    return state_sentence(run, rubric)


def without_names(facts: RunFacts) -> RunFacts:
    """The run's facts without the names of people who edited rounds."""
    edited = Round.objects.filter(run=facts.run, author_name__gt="")
    by_hand = set(edited.values_list("number", flat=True))
    rounds = tuple(
        replace(line, origin=ORIGIN_LABELS["hand"], key_change="") if line.number in by_hand else line
        for line in facts.rounds
    )
    return replace(facts, rounds=rounds)


def shared_round(run: Run, rubric: Rubric, number: int) -> RoundFacts | None:
    """One round without people's names."""
    found = round_facts(run, rubric, number)
    if found is None:
        return None
    board = found.board and without_errors(found.board)
    return replace(found, origin=ORIGIN_LABELS[found.row.origin], instructions=(), board=board)


def without_errors(board: BoardFacts) -> BoardFacts:
    """A board's facts without the details of what went wrong, which may name servers."""
    return replace(
        board,
        unread=tuple(replace(entry, problem="") for entry in board.unread),
        silent=tuple(replace(entry, problem="") for entry in board.silent),
        problem="The suggestions could not be merged, so one of them is used." if board.problem else "",
    )


def shared_decisions(run: Run) -> list[SharedDecision]:
    """Decisions, newest first, without people's names."""
    rows = Decision.objects.filter(run=run).order_by("-number")[:MOST_DECISIONS]
    return [
        SharedDecision(
            words=row.get_kind_display(),
            look=DECISION_CHIPS.get(DecisionKind(row.kind), ""),
            about=capital_round_name(row.round_number) if row.round_number else "",
            reason=row.reason,
            at=row.at,
        )
        for row in rows
    ]


def shared_comments(run: Run) -> list[SharedComment]:
    """Comments on the run by thread; deleted texts are not included."""
    rows = Comment.objects.filter(run=run, deleted_at=None).select_related("thread")
    shown: list[SharedComment] = []
    last = None
    for row in rows.order_by("thread_id", "id")[:MOST_COMMENTS]:
        shown.append(_shared_comment(row, answers=row.thread_id == last))
        last = row.thread_id
    return shown


def _shared_comment(row: Comment, *, answers: bool) -> SharedComment:
    thread = row.thread
    return SharedComment(
        author=row.author_name,
        at=row.created_at,
        answers=answers,
        about=capital_round_name(thread.round_number) if thread.round_number else "",
        quote="" if answers else thread.quote[:QUOTE_CHARS],
        resolved=thread.is_resolved and not answers,
        rendered=markdown(row.body),
        body=row.body,
    )


def shared_calls(run: Run, number: int) -> tuple[list[SharedCall], int]:
    """The first calls of a round with their exact messages, and how many more there are."""
    rows = Call.objects.filter(run=run, round_number=number).order_by("id")
    total = rows.count()
    calls = list(rows[:MOST_CALLS])
    lines = call_lines(calls)
    shown = [SharedCall(line, call_texts(call)) for line, call in zip(lines, calls, strict=True)]
    return shown, max(0, total - len(shown))
