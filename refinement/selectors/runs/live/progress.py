"""A run at work, as its page shows it: the stages of its round, who answers, and how long it may take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import ceil
from typing import TypeAlias

from django.db.models import Max, Min
from django.utils import timezone

from refinement.engine.types import Rubric
from refinement.judging.parsing.partial import Entry, partial_verdict
from refinement.models import Call, CallPurpose, RunStatus
from refinement.selectors.runs.boards.live import LiveBoard, live_board
from refinement.selectors.runs.live.page import LiveState, live_states, text_under_way
from refinement.selectors.runs.page import RoundLine, RunFacts
from refinement.selectors.runs.words import duration, mark_distance

MOST_COMING = 8  # rounds in the strip, with those that are there
DONE, NOW, NEXT = "done", "now", "next"
# The stage that each step belongs to.
STAGE_OF = {
    "draft": "write",
    "revise": "write",
    "repair": "write",
    "evaluate": "check",
    "judge": "judge",
    "compose": "judge",
    "score": "judge",
    "deliberate": "deliberate",
    "merge": "merge",
    "describe": "merge",
}
Spans: TypeAlias = dict[int, tuple[datetime, datetime]]
# A round is late from this share of the slowest one on, and some seconds; static/js/run_live.js has the same.
LATE, LATE_SECONDS = 1.25, 10
LATE_WORDS = "Longer than usual"
WRITES = (CallPurpose.DRAFT, CallPurpose.REVISE, CallPurpose.REPAIR)


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the round: done, going on now, or to come."""

    key: str
    title: str
    state: str
    words: str
    share: int = 0  # percent of it that is done, where that is known
    since: datetime | None = None  # while it goes on


@dataclass(frozen=True, slots=True)
class Coming:
    """A round that is not there yet."""

    number: int
    words: str
    now: bool  # it is being written


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """What is left, and from what the page counts on: the bounds from the start of the round at work."""

    words: str
    basis: str
    began: datetime  # the round at work
    low: int  # seconds from its start, if it is the last round
    high: int  # and if all rounds are used
    usual: int  # the slowest round so far


@dataclass(frozen=True, slots=True)
class Progress:
    state: LiveState
    stages: tuple[Stage, ...]
    coming: tuple[Coming, ...]
    best: str
    left: TimeLeft | None
    text: str  # the end of what a model writes now
    reading: list[Entry]  # the judge's reply so far; empty for other texts
    board: LiveBoard | None  # the judges, while a board judges a round
    kept: str  # what stopping the run now keeps

    @property
    def writing(self) -> bool:
        """Whether the next round's text is being written."""
        return self.state.status == RunStatus.RUNNING and STAGE_OF.get(self.state.step) == "write"

    @property
    def judging(self) -> int:
        """The round that is checked and judged now; 0 if none is."""
        at_work = self.state.status == RunStatus.RUNNING and not self.writing
        return self.state.number if at_work else 0


def progress_of(facts: RunFacts) -> Progress:
    """Where the run is. At most nine queries."""
    run = facts.run
    state = live_states([run.pk])[run.pk]
    text = text_under_way(run) if run.status == RunStatus.RUNNING else ""
    board = live_board(run, state.board)
    spans = _spans(run.pk)
    return Progress(
        state=state,
        stages=stages_of(facts, state, board, _written_in(run.pk, state.number)),
        coming=coming_rounds(facts.rounds, state),
        best=best_words(facts),
        left=time_left(spans, state, timezone.now()) if run.status == RunStatus.RUNNING else None,
        text=text,
        reading=partial_verdict(text) if state.writer == "judge" else [],
        board=board,
        kept=kept_words(facts),
    )


# --- stages -----------------------------------------------------------------------------------------
def stages_of(
    facts: RunFacts, state: LiveState, board: LiveBoard | None, seconds: Decimal
) -> tuple[Stage, ...]:
    """The stages of the round at work, in order."""
    rubric, line = facts.rubric, next((row for row in facts.rounds if row.number == state.number), None)
    here = STAGE_OF.get(state.step, "write")
    if here == "merge" and state.board is None:
        here = "judge"  # the clerk only names the change
    words = {
        "write": write_words(facts, line, seconds),
        "check": check_words(rubric),
        "judge": judge_words(facts, state, board),
        "deliberate": f"{len(facts.panel) or 'all'} judges answer each other",
        "merge": "clerk",
    }
    keys = [key for key in words if has_stage(facts, state, key) or key == here]
    place = keys.index(here)
    going = NOW if state.status == RunStatus.RUNNING else NEXT
    return tuple(
        Stage(
            key,
            key.capitalize(),
            DONE if at < place else going if at == place else NEXT,
            words[key],
            share_of(key, board) if at == place else 0,
            state.since if at == place else None,
        )
        for at, key in enumerate(keys)
    )


def has_stage(facts: RunFacts, state: LiveState, key: str) -> bool:
    rubric = facts.rubric
    if key == "check":
        return bool(rubric.checks) or rubric.runs_a_command
    if key in ("deliberate", "merge"):
        return is_board(facts, state) and (key == "merge" or rubric.judges.deliberation)
    return True


def is_board(facts: RunFacts, state: LiveState) -> bool:
    """Whether a board judges the round at work."""
    return state.board is not None or (facts.has_board and state.number > facts.run.escalated_after)


def share_of(key: str, board: LiveBoard | None) -> int:
    """How much of the stage is done: the judges that have answered."""
    if board is None or key not in ("judge", "deliberate") or not board.asked:
        return 0
    return 100 * board.done // board.asked


def write_words(facts: RunFacts, line: RoundLine | None, seconds: Decimal) -> str:
    model = facts.run.producer_model
    if line is None:
        return model
    chars = f"{line.chars:,} characters"
    took = f"{seconds:.0f} s" if seconds else ""
    by_model = (line.number > 1 and not line.by_hand) or not facts.run.seed
    given = " given" if line.number == 1 else ""
    who = model if by_model else f"{line.origin.capitalize()}{given}"
    return ", ".join(part for part in (who, took, chars) if part)


def check_words(rubric: Rubric) -> str:
    checks, command = len(rubric.checks), "a command" if rubric.runs_a_command else ""
    counted = f"{checks} check{'' if checks == 1 else 's'}" if checks else ""
    return " and ".join(part for part in (command, counted) if part)


def judge_words(facts: RunFacts, state: LiveState, board: LiveBoard | None) -> str:
    if board is not None and state.step == "score":
        return f"{board.done} of {board.asked} in"
    if not is_board(facts, state):
        return facts.run.judge_model
    return f"{len(facts.panel)} judges" if facts.panel else "a board"


# --- words ------------------------------------------------------------------------------------------
def coming_rounds(lines: Sequence[RoundLine], state: LiveState) -> tuple[Coming, ...]:
    """The rounds after those that are there; of many, only the one being written."""
    there, last = len(lines), state.rounds_at_most
    numbers: Iterable[int] = range(there + 1, last + 1) if last <= MOST_COMING else ()
    if state.number > there:
        numbers = sorted({state.number, *numbers})
    return tuple(
        Coming(number, coming_words(number, last, state), number == state.number) for number in numbers
    )


def coming_words(number: int, last: int, state: LiveState) -> str:
    if number == state.number:
        return "being written" if state.writer == "producer" else "next"
    return "the last, if needed" if number == last else "if needed"


def best_words(facts: RunFacts) -> str:
    """The best round so far, and how far it is from the pass mark."""
    run, policy = facts.run, facts.rubric.policy
    if run.best is None:
        return "No round is judged yet."
    words = f"Best so far: {facts.best_name.lower()} with {facts.best}"
    distance = mark_distance(run.best, policy)
    return f"{words}, {distance}" if distance else words


def kept_words(facts: RunFacts) -> str:
    """What stays of the run if it is stopped now."""
    judged = facts.run.rounds_judged
    if not judged:
        return "No round is judged yet, so there is no result."
    rounds = "1 judged round is" if judged == 1 else f"{judged} judged rounds are"
    return f"{rounds} kept. {facts.best_name} ({facts.best}) is the result."


# --- time -------------------------------------------------------------------------------------------
def time_left(
    spans: dict[int, tuple[datetime, datetime]], state: LiveState, now: datetime
) -> TimeLeft | None:
    """From the fastest round, if this is the last one, to the slowest for all that are left."""
    judged = {number: (end - start).total_seconds() for number, (start, end) in spans.items()}
    begun = judged.pop(state.number, None)
    if not judged:
        return None
    # The first call of a round is recorded when it ends.
    began = spans[state.number][0] if begun is not None else state.since or now
    spent = max(0.0, (now - began).total_seconds())
    rounds = max(1, state.rounds_at_most - state.number + 1)
    fastest, slowest = min(judged.values()), max(judged.values())
    first, last = min(judged), max(judged)
    basis = f"estimated from round {first}" if first == last else f"estimated from rounds {first}–{last}"
    late = spent > slowest * LATE + LATE_SECONDS
    return TimeLeft(
        LATE_WORDS if late else minutes_words(max(0.0, fastest - spent), max(0.0, slowest * rounds - spent)),
        f"a round usually takes {duration(slowest)}" if late else f"left, {basis}",
        began,
        ceil(fastest),
        ceil(slowest * rounds),
        ceil(slowest),
    )


def minutes_words(low: float, high: float) -> str:
    if high < 60:
        return "about 1 min"
    least, most = int(low // 60), ceil(high / 60)
    if least == most:
        return f"about {most} min"
    return f"{least} to {most} min" if least else f"up to {most} min"


def _spans(run: int) -> Spans:
    """From the first call of each round to its last."""
    rows = Call.objects.filter(run=run).values("round_number").order_by("round_number")
    spans = rows.annotate(first=Min("started_at"), last=Max("finished_at"))
    return {row["round_number"]: (row["first"], row["last"]) for row in spans}


def _written_in(run: int, number: int) -> Decimal:
    """The seconds that the writer took for the round."""
    calls = Call.objects.filter(run=run, round_number=number, purpose__in=WRITES)
    return sum(calls.values_list("seconds", flat=True), Decimal(0))
