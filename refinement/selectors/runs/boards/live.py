"""A board at work: who has answered, and whom the run waits for."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from refinement.engine.boards import final_score
from refinement.engine.codec import rubric_from_json
from refinement.engine.scoring import composite, shown
from refinement.engine.types import JudgeMode, Rubric
from refinement.judging.parsing.partial import Entry, last_entry
from refinement.models import (
    BoardVerdict,
    Call,
    CallPurpose,
    EventKind,
    LiveText,
    PanelJudge,
    RoundOrigin,
    Run,
)
from refinement.selectors.runs.boards.rounds import BoardFacts, JudgeLine, board_of, judge_line
from refinement.selectors.runs.history import board_verdict_of

WAITING, ANSWERED, DELIBERATED, UNREADABLE = "waiting", "answered", "deliberated", "unreadable"


@dataclass(frozen=True, slots=True)
class Seat:
    """A judge of a board, and how far it is with the newest round."""

    seat: int
    name: str
    state: str
    silent: bool = False  # its answer in the deliberation could not be read


@dataclass(frozen=True, slots=True)
class BoardState:
    """The seats of a run's board, for its newest round."""

    number: int
    judged: bool  # merged already
    named: bool  # what the round changed is named, or needs no name
    seats: tuple[Seat, ...]
    deliberates: bool
    written: bool = True  # False while the producer writes the first draft

    @property
    def step(self) -> str:
        """The board's step for a round that is written and not judged."""
        if not self.seats:
            return "compose"
        if any(seat.state == WAITING for seat in self.seats):
            return "score"
        if self.deliberates and any(seat.state == ANSWERED for seat in self.seats):
            return "deliberate"
        return "merge"

    @property
    def missing(self) -> list[str]:
        """The judges who have yet to answer in this step."""
        state = {"score": WAITING, "deliberate": ANSWERED}.get(self.step)
        return [seat.name for seat in self.seats if seat.state == state]

    @property
    def asked(self) -> int:
        """How many judges are asked in this step: only those that could be read deliberate."""
        unread = sum(seat.state == UNREADABLE for seat in self.seats)
        return len(self.seats) - unread if self.step == "deliberate" else len(self.seats)

    @property
    def words(self) -> str:
        """Who has answered and who has not, without the name of the round."""
        step, missing = self.step, self.missing
        if step == "compose":
            return "the clerk is composing the board."
        if step == "merge":
            return "the clerk is merging the board's verdicts."
        doing = "scoring" if step == "score" else "deliberating"
        done = self.asked - len(missing)
        waiting = f" Waiting for {listed(missing)}." if 0 < len(missing) < self.asked else ""
        return f"the judges are {doing}, {done} of {self.asked} have answered.{waiting}"


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def is_board(row: Mapping[str, Any]) -> bool:
    """Whether a board judges the newest round of this run, from its live row."""
    escalated = 0 < row["escalated_after"] < (row["newest_number"] or 1)
    return bool(row["judges"] == JudgeMode.BOARD or escalated)


def board_states(rows: Sequence[Mapping[str, Any]]) -> dict[int, BoardState]:
    """The boards of these runs, by run. Two queries, none without a board."""
    boards = [row for row in rows if is_board(row)]
    if not boards:
        return {}
    panels = _panels([row["pk"] for row in boards])
    answers = _answers([row["newest_round"] for row in boards if row["newest_round"]])
    return {
        row["pk"]: board_state(row, panels.get(row["pk"], []), answers.get(row["newest_round"], {}))
        for row in boards
    }


def board_state(
    row: Mapping[str, Any], panel: Sequence[Any], answers: Mapping[int, Mapping[str, Any]]
) -> BoardState:
    number = row["newest_number"] or 1
    return BoardState(
        number=number,
        judged=row["newest_judged"] is not None,
        named=number == 1 or row["newest_change"] is not None or row["newest_origin"] == RoundOrigin.HAND,
        seats=tuple(seat_of(judge, answers.get(judge["seat"])) for judge in panel),
        deliberates=row["deliberation"] is not False,
        written=row["newest_round"] is not None,
    )


def seat_of(judge: Mapping[str, Any], answer: Mapping[str, Any] | None) -> Seat:
    if answer is None:
        return Seat(judge["seat"], judge["name"], WAITING)
    if answer["problem"]:
        return Seat(judge["seat"], judge["name"], UNREADABLE)
    state = ANSWERED if answer["deliberated_at"] is None else DELIBERATED
    return Seat(judge["seat"], judge["name"], state, bool(answer["stances_problem"]))


def _panels(runs: Collection[int]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    rows = PanelJudge.objects.filter(run__in=runs).order_by("run_id", "seat").values("run_id", "seat", "name")
    for row in rows:
        found.setdefault(row["run_id"], []).append(row)
    return found


def _answers(rounds: Collection[int]) -> dict[int, dict[int, Any]]:
    found: dict[int, dict[int, Any]] = {}
    columns = ("round_id", "seat", "problem", "stances_problem", "deliberated_at")
    for row in BoardVerdict.objects.filter(round__in=rounds).order_by("seat").values(*columns):
        found.setdefault(row["round_id"], {})[row["seat"]] = row
    return found


def board_step(board: BoardState, event: Mapping[str, Any], base: str) -> tuple[str, int] | None:
    """The board's step after this event; None if the producer or a command works on the round.

    `base` is the step that a single judge's run would be in.
    """
    claimed = event["kind"] in (EventKind.CLAIMED, EventKind.ESCALATED)
    if base in ("draft", "repair", "evaluate") or (claimed and base == "revise"):
        return None
    if not board.judged:
        return board.step, board.number
    return ("revise", board.number + 1) if board.named else ("describe", board.number)


# --- the judges on a page ---------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class LiveJudge:
    judge: JudgeLine
    state: str
    silent: bool
    words: str  # the change it suggests, or why it could not be read
    score: str = ""  # its own composite, not final
    seconds: str = ""  # that it took
    works: bool = False  # on its answer in this step
    said: Entry | None = None  # what it is writing now


@dataclass(frozen=True, slots=True)
class LiveBoard:
    """The judges of the round that is judged now, with the scores that are known so far."""

    judges: tuple[LiveJudge, ...]
    facts: BoardFacts | None  # None before the first answer
    done: int
    asked: int
    since: datetime | None  # when the judges were asked, once one has answered


def live_board(run: Run, state: BoardState | None) -> LiveBoard | None:
    """The judges at work; None unless a board judges the newest round now. Four queries."""
    if state is None or not state.written or state.judged or not state.seats:
        return None
    rubric = rubric_from_json(run.snapshot)
    judges = {row.seat: judge_line(row) for row in PanelJudge.objects.filter(run=run.pk)}
    rows = list(
        BoardVerdict.objects.filter(round__run=run.pk, round__number=state.number)
        .select_related("judge")
        .order_by("seat")
    )
    answers = {row.seat: row for row in rows}
    calls = _calls(run.pk, state)
    texts = texts_of_judges(run.pk)
    works = {"score": WAITING, "deliberate": ANSWERED}.get(state.step)
    return LiveBoard(
        judges=tuple(
            replace(
                live_judge(rubric, judges[seat.seat], seat, answers.get(seat.seat), calls.get(seat.seat)),
                works=seat.state == works,
                said=last_entry(texts.get(seat.seat, "")),
            )
            for seat in state.seats
        ),
        facts=board_of(rubric, rows, None, merged=False) if rows else None,
        done=state.asked - len(state.missing),
        asked=state.asked,
        since=min((call["started_at"] for call in calls.values()), default=None),
    )


def live_judge(
    rubric: Rubric, judge: JudgeLine, seat: Seat, answer: BoardVerdict | None, call: Mapping[str, Any] | None
) -> LiveJudge:
    if answer is None:
        return LiveJudge(judge, seat.state, seat.silent, "")
    said = board_verdict_of(answer)
    scores = {
        criterion.key: final_score(said, criterion.key) for criterion in rubric.criteria if said.verdict
    }
    return LiveJudge(
        judge,
        seat.state,
        seat.silent,
        answer.problem or answer.asi,
        shown(composite(rubric, scores, ()), rubric.policy) if scores else "",
        f"{call['seconds']:.0f} s" if call else "",
    )


def texts_of_judges(run_id: int) -> dict[int, str]:
    """What each judge of a board has written so far, by seat."""
    rows = LiveText.objects.filter(run_id=run_id, seat__gt=0).order_by("seat", "position")
    texts: dict[int, str] = {}
    for seat, text in rows.values_list("seat", "text"):
        texts[seat] = texts.get(seat, "") + text
    return texts


def _calls(run: int, state: BoardState) -> dict[int, Any]:
    """The newest call to each judge in this step."""
    purpose = CallPurpose.DELIBERATE if state.step == "deliberate" else CallPurpose.SCORE
    calls = Call.objects.filter(run=run, round_number=state.number, purpose=purpose, seat__gt=0)
    return {row["seat"]: row for row in calls.order_by("attempt").values("seat", "seconds", "started_at")}
