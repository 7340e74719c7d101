"""How closely a board, and each of its judges, agrees with people over a run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import F

from refinement.engine.agreement import Agreement, agreement_of, judge_pairs, near_gap
from refinement.engine.boards import may_have_board
from refinement.engine.types import BoardVerdict as Answer
from refinement.engine.types import Rubric
from refinement.models import BoardVerdict
from refinement.selectors.reviews.given import PersonScores, score_pairs
from refinement.selectors.runs.history import board_verdict_of

MOST_VERDICTS = 500  # of one run; the first ones
FEWEST_ROUNDS = 3  # below this, agreement is not reported
BOARD = "Board"
Pairs = list[tuple[Decimal, Decimal]]


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """A judge's agreement with people over single scores, formatted."""

    name: str
    is_board: bool
    rounds: int
    scores: int
    apart: str
    bias: str  # with a sign; positive if the judge scores higher
    near: str  # in percent


@dataclass(frozen=True, slots=True)
class SeatAnswer:
    """A judge's answer in a round."""

    number: int
    name: str
    answer: Answer


def board_agreement(run: int, rubric: Rubric, given: Sequence[PersonScores]) -> tuple[JudgeLine, ...]:
    """The board's judges by seat, then the board, in rounds that people scored. At most one query."""
    if not given or not may_have_board(rubric):
        return ()
    return lines_of(rubric, given, answers_in(run))


def answers_in(run: int) -> list[SeatAnswer]:
    rows = (
        BoardVerdict.objects.filter(round__run=run, round__judged_at__isnull=False)
        .annotate(number=F("round__number"), name=F("judge__name"))
        .order_by("round__number", "seat")[:MOST_VERDICTS]
    )
    return [SeatAnswer(row.number, row.name, board_verdict_of(row)) for row in rows]


def lines_of(
    rubric: Rubric, given: Sequence[PersonScores], answers: Sequence[SeatAnswer]
) -> tuple[JudgeLine, ...]:
    """One line for each judge and one for the board; empty if people scored too few of its rounds."""
    boards: dict[int, list[Answer]] = {}
    for found in answers:
        boards.setdefault(found.number, []).append(found.answer)
    scored = [entry for entry in given if entry.number in boards]
    rounds = {entry.number for entry in scored}
    if len(rounds) < FEWEST_ROUNDS:
        return ()
    names = {found.answer.seat: found.name for found in answers}
    by_seat: dict[int, Pairs] = {seat: [] for seat in sorted(names)}
    seen: dict[int, set[int]] = {seat: set() for seat in names}
    for entry in scored:
        for seat, pairs in judge_pairs(boards[entry.number], person_scores(entry)).items():
            by_seat[seat] += pairs
            seen[seat].add(entry.number)
    judges = [line_of(rubric, names[seat], len(seen[seat]), by_seat[seat]) for seat in by_seat]
    merged = [pair for entry in scored for pair in score_pairs(entry)]
    board = line_of(rubric, BOARD, len(rounds), merged, is_board=True)
    return tuple(line for line in (*judges, board) if line is not None)


def person_scores(entry: PersonScores) -> Mapping[str, Decimal]:
    return {said["key"]: Decimal(said["score"]) for said in json.loads(entry.scores)}


def line_of(
    rubric: Rubric, name: str, rounds: int, pairs: Pairs, *, is_board: bool = False
) -> JudgeLine | None:
    found = agreement_of(pairs, near_gap(rubric))
    if found is None:
        return None
    places = max(1, rubric.policy.composite_decimals)
    return JudgeLine(
        name=name,
        is_board=is_board,
        rounds=rounds,
        scores=found.pairs,
        apart=f"{found.apart:.{places}f}",
        bias=bias_label(found, places),
        near=f"{found.near_share * 100:.0f} %",
    )


def bias_label(found: Agreement, places: int) -> str:
    rounded = round(found.bias, places)
    sign = "" if rounded == 0 else "+" if rounded > 0 else "−"
    return f"{sign}{abs(rounded):.{places}f}"
