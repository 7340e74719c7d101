"""Live state of a run: status text, new events and text in progress."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import F, OuterRef, Q, Subquery
from django.utils import timezone

from refinement.engine.stopping import MORE_ROUNDS
from refinement.models import (
    ApiToken,
    Event,
    EventKind,
    LiveText,
    Membership,
    Round,
    Run,
    RunStatus,
)
from refinement.selectors.runs.boards.live import BoardState, board_states
from refinement.selectors.runs.live.steps import WRITERS, is_held, position, status_message

MOST_EVENTS = 500  # per request; after a longer absence the page reloads anyway
TAIL_CHARS = 40_000  # of text in progress
TOKEN = "token:"
# User actions outside the loop do not change the current step.
BESIDE = (
    EventKind.COMMENTED,
    EventKind.SCORED,
    EventKind.DECIDED,
    EventKind.STEERED,
    EventKind.EDITED,
    EventKind.REVIEWING,
    EventKind.PAUSING,
)
NEWEST_ROUND = {
    "newest_round": "pk",
    "newest_number": "number",
    "newest_judged": "judged_at",
    "newest_change": "key_change",
    "newest_origin": "origin",
}
STATE_FIELDS = {
    "max_rounds": "snapshot__policy__max_rounds",
    "budget": "snapshot__policy__budget__tokens",
    "repeats": "snapshot__evaluator__repeat",
    "judges": "snapshot__judges__mode",
    "deliberation": "snapshot__judges__deliberation",
    "clerk": "snapshot__judges__clerk",
    "judge_sees": "snapshot__context__judge",
}


@dataclass(frozen=True, slots=True)
class Glance:
    """A run's state from one small query; pieces belong to its current attempt and to no judge of a board."""

    status: str
    attempt: int
    next_try_at: datetime | None
    newest_event: int
    first_piece: int | None
    last_piece: int | None
    last_of_judges: int | None = None  # the newest piece of a judge of its board

    @property
    def is_finished(self) -> bool:
        return self.status == RunStatus.FINISHED


def glances_at(run_ids: Collection[int]) -> dict[int, Glance]:
    """State of these runs. Deleted runs are left out."""
    events = Event.objects.filter(run=OuterRef("pk")).order_by("-id").values("id")[:1]
    pieces = LiveText.objects.filter(run=OuterRef("pk"), attempt=OuterRef("attempt"), seat=0)
    judges = LiveText.objects.filter(run=OuterRef("pk"), seat__gt=0)
    rows = (
        Run.objects.filter(pk__in=run_ids)
        .order_by()
        .annotate(
            newest_event=Subquery(events),
            first_piece=Subquery(pieces.order_by("position").values("id")[:1]),
            last_piece=Subquery(pieces.order_by("-position").values("id")[:1]),
            last_of_judges=Subquery(judges.order_by("-id").values("id")[:1]),
        )
        .values_list(
            *("pk", "status", "attempt", "next_try_at", "newest_event"),
            *("first_piece", "last_piece", "last_of_judges"),
        )
    )
    return {
        pk: Glance(status, attempt, next_try, newest or 0, *pieces)
        for pk, status, attempt, next_try, newest, *pieces in rows
    }


def events_after(cursors: Mapping[int, int]) -> dict[int, list[dict[str, Any]]]:
    """Events of each run after an event id, in order, without user text."""
    wanted = Q()
    for run_id, after in cursors.items():
        wanted |= Q(run_id=run_id, id__gt=after)
    rows = Event.objects.filter(wanted).order_by("id").values("id", "run_id", "kind", "at", "data")
    found: dict[int, list[dict[str, Any]]] = {run_id: [] for run_id in cursors}
    for row in rows[: MOST_EVENTS * len(cursors)]:
        number = row["data"].get("round")
        found[row["run_id"]].append(
            {"id": row["id"], "kind": row["kind"], "at": row["at"].isoformat(), "round": number}
        )
    return found


def pieces_after(run_id: int, attempt: int, after: int) -> list[tuple[int, str]]:
    """Numbered pieces of the text in progress, in order."""
    rows = LiveText.objects.filter(run_id=run_id, attempt=attempt, seat=0, id__gt=after).order_by("position")
    return list(rows.values_list("id", "text"))


# Some models repeat the marks that the prompt puts around texts; static/js/run_live.js leaves them out, too.
PROMPT_MARKS = re.compile(r"<<<(?:END )?[^<>\n]{0,80}(?:>{1,3}|$)\n?")


def text_under_way(run: Run) -> str:
    """The end of the text a model is writing; empty if none."""
    text = "".join(text for _, text in pieces_after(run.pk, run.attempt, 0))[-TAIL_CHARS:]
    return PROMPT_MARKS.sub("", text)


def still_allowed(
    people: Collection[tuple[int, int]], sessions: Collection[str]
) -> tuple[set[Any], set[str]]:
    """The (person, project) pairs that are still members, and the sessions still open.

    An API client's session is its token, as `token:12`.
    """
    members = Membership.objects.filter(
        user_id__in={user for user, _ in people},
        project_id__in={project for _, project in people},
        user__is_active=True,
    )
    opened = set(Session.objects.filter(session_key__in=sessions).values_list("session_key", flat=True))
    numbers = [int(key.removeprefix(TOKEN)) for key in sessions if key.startswith(TOKEN)]
    if numbers:
        lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        tokens = ApiToken.objects.filter(lasting, pk__in=numbers, revoked_at=None)
        opened |= {f"{TOKEN}{pk}" for pk in tokens.values_list("pk", flat=True)}
    return set(members.values_list("user_id", "project_id")), opened


# --- status texts ---------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class LiveState:
    """The current step as text, and the run's progress."""

    status: str
    words: str
    rounds: int
    rounds_at_most: int
    tokens: int
    token_budget: int | None
    calls: int
    began_at: datetime | None
    ended_at: datetime | None
    next_try_at: datetime | None
    newest_event: int
    # judge, board, clerk or producer while replying, evaluator while its command runs; empty between steps
    writer: str
    step: str  # the one carried out now, or to be carried out next
    number: int  # its round
    since: datetime | None  # when the step began
    command_since: datetime | None = None  # when the command began that runs now
    board: BoardState | None = None  # of a run whose newest round a board judges

    @property
    def is_finished(self) -> bool:
        return self.status == RunStatus.FINISHED

    @property
    def heading(self) -> str:
        """The round at work; empty between steps."""
        return (
            f"Round {self.number} of at most {self.rounds_at_most}" if self.words.startswith("Round ") else ""
        )

    @property
    def doing(self) -> str:
        """The words without the round."""
        return self.words.partition(": ")[2] if self.heading else self.words

    @property
    def rounds_words(self) -> str:
        noun = "round" if self.rounds_at_most == 1 else "rounds"
        return f"{self.rounds} of {self.rounds_at_most} {noun} judged"

    @property
    def tokens_words(self) -> str:
        used = f"{self.tokens:,} {'token' if self.tokens == 1 else 'tokens'}"
        return used if self.token_budget is None else f"{used} of {self.token_budget:,}"

    @property
    def calls_words(self) -> str:
        return f"{self.calls:,} {'call' if self.calls == 1 else 'calls'}"

    @property
    def seconds(self) -> int | None:
        """Total duration of a finished run."""
        if self.began_at is None or self.ended_at is None:
            return None
        return int((self.ended_at - self.began_at).total_seconds())


def live_states(run_ids: Collection[int]) -> dict[int, LiveState]:
    """Live state of these runs. Two queries, and two more if one of them has a board."""
    rows = _stands(tuple(run_ids))
    steps = tuple(row["last_step"] for row in rows if row["last_step"])
    events = {event["id"]: event for event in _steps(steps)} if steps else {}
    boards = board_states([row for row in rows if row["status"] != RunStatus.FINISHED])
    return {row["pk"]: state_of(row, events.get(row["last_step"]), boards.get(row["pk"])) for row in rows}


def _stands(run_ids: tuple[int, ...]) -> list[Any]:
    events = Event.objects.filter(run=OuterRef("pk")).order_by("-id").values("id")
    newest, of_the_loop = events[:1], events.exclude(kind__in=BESIDE)[:1]
    rounds = Round.objects.filter(run=OuterRef("pk")).order_by("-number")
    stands: Any = (
        Run.objects.filter(pk__in=run_ids)
        .order_by()
        .annotate(
            newest_event=Subquery(newest),
            last_step=Subquery(of_the_loop),
            **{name: Subquery(rounds.values(field)[:1]) for name, field in NEWEST_ROUND.items()},
        )
        .values(
            *("pk", "status", "rounds_judged", "prompt_tokens", "completion_tokens", "calls_made", "why"),
            *(
                "created_at",
                "started_at",
                "idle_seconds",
                "finished_at",
                "next_try_at",
                "waiting_for",
                "newest_event",
            ),
            *("lease_owner", "last_step", "escalated_after", "extended_after", "plateau_asked"),
            *NEWEST_ROUND,
            **{name: F(path) for name, path in STATE_FIELDS.items()},
        )
    )
    return list(stands)


def _steps(events: tuple[int, ...]) -> list[Any]:
    return list(Event.objects.filter(pk__in=events).values("id", "kind", "at", "data"))


def state_of(
    row: Mapping[str, Any], event: Mapping[str, Any] | None, board: BoardState | None = None
) -> LiveState:
    step, number = position(row, event, board)
    held = event is not None and is_held(row)
    return LiveState(
        status=row["status"],
        words=status_message(row, event, board),
        rounds=row["rounds_judged"],
        rounds_at_most=rounds_at_most(row),
        tokens=row["prompt_tokens"] + row["completion_tokens"],
        token_budget=row["budget"],
        calls=row["calls_made"],
        began_at=row["started_at"] and row["started_at"] + timedelta(seconds=row["idle_seconds"]),
        ended_at=row["finished_at"],
        next_try_at=row["next_try_at"] if row["status"] == RunStatus.WAITING else None,
        newest_event=row["newest_event"] or 0,
        writer=WRITERS.get(step, "") if held else "",
        step=step,
        number=number,
        since=event["at"] if held and event else None,
        command_since=event["at"] if held and event and event["kind"] == EventKind.EVALUATING else None,
        board=board,
    )


def rounds_at_most(row: Mapping[str, Any]) -> int:
    """The round limit, with the rounds that a board was given on a plateau."""
    if row["escalated_after"] > row["extended_after"]:
        return int(row["escalated_after"]) + MORE_ROUNDS
    return row["max_rounds"] or 1
