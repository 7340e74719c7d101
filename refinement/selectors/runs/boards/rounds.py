"""A round judged by a board: the judges' scores before and after the deliberation, and the clerk's merge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from refinement.charts import JudgeScore, Lane, LaneAxis, glyph, lane, lane_axis
from refinement.engine.boards import final_score, is_dissent, lower_median, readable
from refinement.engine.types import (
    BoardVerdict,
    Criterion,
    CriterionScore,
    CriterionStance,
    JudgeMode,
    Rubric,
    Scale,
    Stance,
)
from refinement.models import BoardVerdict as BoardVerdictRow
from refinement.models import PanelJudge, Round, Run
from refinement.selectors.runs.history import board_verdict_of
from refinement.selectors.score_words import score_text

MOST_MOVES = 3  # shown at once; the rest is folded


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """A judge of the board."""

    seat: int
    name: str
    lens: str
    model: str
    endpoint: str
    glyph: str  # the path of its mark


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one judge says about one criterion."""

    judge: JudgeLine
    before: str
    after: str  # empty if it is the same, or not final yet
    reasoning: str
    improvement: str
    stance: str  # agree, challenge or concede; empty without a deliberation
    answer: str  # its words in the deliberation


@dataclass(frozen=True, slots=True)
class CriterionBoard:
    """The judges' scores for one criterion."""

    key: str
    name: str
    share: str  # of the score
    lane: Lane
    median: str  # empty if the board has no quorum or not all judges have answered
    spread: str
    dissent: bool
    opinions: tuple[Opinion, ...]

    @property
    def range(self) -> str:
        """From the lowest score to the highest."""
        scores = sorted({Decimal(opinion.after or opinion.before) for opinion in self.opinions})
        return "–".join(score_text(score) for score in dict.fromkeys([*scores[:1], *scores[-1:]]))

    @property
    def words(self) -> str:
        """The lane as a sentence."""
        scores = [
            f"{opinion.judge.name} {opinion.before}" + (f", then {opinion.after}" if opinion.after else "")
            for opinion in self.opinions
        ]
        ends = [f"median {self.median}", f"spread {self.spread}"] if self.median else ["not final"]
        return f"{self.name}: {'; '.join([*scores, *ends])}"


@dataclass(frozen=True, slots=True)
class Move:
    """A concession or a challenge in the deliberation."""

    judge: JudgeLine
    verb: str  # conceded or challenged
    criterion: str
    scores: str  # such as 6 → 7.5
    note: str
    words: str
    dissent: bool
    size: Decimal = field(default=Decimal(0), compare=False)


@dataclass(frozen=True, slots=True)
class Unread:
    """A judge whose reply could not be read, and why."""

    judge: JudgeLine
    problem: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    judge: JudgeLine
    text: str


@dataclass(frozen=True, slots=True)
class BoardFacts:
    """A board's round as the page shows it."""

    judges: tuple[JudgeLine, ...]  # those that could be read
    axis: LaneAxis
    criteria: tuple[CriterionBoard, ...]
    moves: tuple[Move, ...]
    agreed: int
    deliberated: bool
    unread: tuple[Unread, ...]
    silent: tuple[Unread, ...]  # whose answer in the deliberation could not be read
    suggestions: tuple[Suggestion, ...]
    working: tuple[str, ...]
    not_working: tuple[str, ...]
    direction: str
    problem: str  # why the clerk's reply is not used

    @property
    def moved(self) -> int:
        return sum(bool(opinion.after) for entry in self.criteria for opinion in entry.opinions)

    @property
    def first_moves(self) -> tuple[Move, ...]:
        return self.moves[:MOST_MOVES]

    @property
    def more_moves(self) -> tuple[Move, ...]:
        return self.moves[MOST_MOVES:]

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(judge.model for judge in self.judges))

    @property
    def split(self) -> tuple[str, ...]:
        """The criteria on which the judges still disagree."""
        return tuple(entry.name for entry in self.criteria if entry.dissent)


def has_panel(run: Run, mode: JudgeMode) -> bool:
    """Whether a board judges the run, or took over in it."""
    return mode is JudgeMode.BOARD or run.escalated_after > 0


def panel_lines(run: Run) -> tuple[JudgeLine, ...]:
    """The run's board by seat; empty if it is not composed yet. One query."""
    return tuple(judge_line(row) for row in PanelJudge.objects.filter(run=run.pk).order_by("seat"))


def judge_line(row: PanelJudge) -> JudgeLine:
    return JudgeLine(row.seat, row.name, row.lens, row.model, row.endpoint, glyph(row.seat))


def board_facts(run: Run, rubric: Rubric, row: Round) -> BoardFacts | None:
    """The board's answers on this round; None if one judge judges it, or none has answered. One query."""
    if row.spread is None and not has_panel(run, rubric.judges.mode):
        return None
    rows = list(BoardVerdictRow.objects.filter(round=row.pk).select_related("judge").order_by("seat"))
    return board_of(rubric, rows, row.summary, merged=row.judged_at is not None) if rows else None


def board_of(
    rubric: Rubric, rows: Sequence[BoardVerdictRow], summary: Mapping[str, Any] | None, *, merged: bool
) -> BoardFacts:
    """The facts of these answers. Unless `merged`, scores are provisional and there is no median."""
    lines = {entry.seat: judge_line(entry.judge) for entry in rows}
    answers = readable([board_verdict_of(entry) for entry in rows])
    said = summary or {}
    drawn = drawn_scale(rubric.scale, answers)
    criteria = tuple(
        criterion_board(rubric, entry, answers, lines, drawn, merged=merged) for entry in rubric.criteria
    )
    moves = sorted(
        (
            move
            for criterion, entry in zip(rubric.criteria, criteria, strict=True)
            for move in moves_of(criterion, entry, answers, lines)
        ),
        key=lambda move: (not move.dissent, -move.size),
    )
    stances = [stance for answer in answers for stance in answer.stances or ()]
    return BoardFacts(
        judges=tuple(lines[answer.seat] for answer in answers),
        axis=lane_axis(drawn),
        criteria=criteria if answers else (),
        moves=tuple(moves),
        agreed=sum(stance.stance is Stance.AGREE for stance in stances),
        deliberated=bool(stances),
        unread=tuple(Unread(lines[entry.seat], entry.problem) for entry in rows if entry.problem),
        silent=tuple(
            Unread(lines[entry.seat], entry.stances_problem) for entry in rows if entry.stances_problem
        ),
        suggestions=tuple(Suggestion(lines[entry.seat], entry.asi) for entry in rows if entry.asi),
        working=_texts(said, "working"),
        not_working=_texts(said, "not_working"),
        direction=str(said.get("direction") or ""),
        problem=str(said.get("problem") or ""),
    )


def _texts(summary: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(str(text) for text in summary.get(key) or ())


def drawn_scale(scale: Scale, answers: Sequence[BoardVerdict]) -> Scale:
    """What lanes show of the scale: its upper half if all scores are in it, so that marks are apart."""
    half = (scale.minimum + scale.maximum) / 2
    scores = [entry.score for answer in answers if answer.verdict for entry in answer.verdict.scores]
    scores += [entry.score for answer in answers for entry in answer.stances or ()]
    return Scale(half, scale.maximum) if scores and min(scores) >= half else scale


def criterion_board(
    rubric: Rubric,
    criterion: Criterion,
    answers: Sequence[BoardVerdict],
    judges: Mapping[int, JudgeLine],
    drawn: Scale,
    *,
    merged: bool,
) -> CriterionBoard:
    key = criterion.key
    finals = [final_score(answer, key) for answer in answers]
    spread = max(finals) - min(finals) if merged and finals else None
    median = lower_median(finals) if merged and finals else None
    opinions = tuple(opinion_of(answer, key, judges[answer.seat]) for answer in answers)
    scores = [
        JudgeScore(answer.seat, _own(answer, key).score, final if merged or answer.stances else None)
        for answer, final in zip(answers, finals, strict=True)
    ]
    return CriterionBoard(
        key=key,
        name=criterion.name,
        share=share_text(rubric, criterion.weight),
        lane=lane(scores, drawn, median),
        median="" if median is None else score_text(median),
        spread="" if spread is None else score_text(spread),
        dissent=spread is not None and is_dissent(rubric, spread),
        opinions=opinions,
    )


def share_text(rubric: Rubric, weight: Decimal) -> str:
    """How much a weight counts in the composite."""
    weights = [entry.weight for entry in rubric.criteria]
    if rubric.policy.checks_in_composite:
        weights += [check.weight for check in rubric.checks]
    return f"{100 * weight / (sum(weights) or 1):.0f} %"


def _own(answer: BoardVerdict, key: str) -> CriterionScore:
    assert answer.verdict is not None
    return next(entry for entry in answer.verdict.scores if entry.key == key)


def _stance(answer: BoardVerdict, key: str) -> CriterionStance | None:
    return next((entry for entry in answer.stances or () if entry.key == key), None)


def opinion_of(answer: BoardVerdict, key: str, judge: JudgeLine) -> Opinion:
    own, stance, final = _own(answer, key), _stance(answer, key), final_score(answer, key)
    return Opinion(
        judge=judge,
        before=score_text(own.score),
        after=score_text(final) if final != own.score else "",
        reasoning=own.reasoning,
        improvement=own.improvement,
        stance=stance.stance.value if stance else "",
        answer=stance.reasoning if stance else "",
    )


def moves_of(
    criterion: Criterion,
    entry: CriterionBoard,
    answers: Sequence[BoardVerdict],
    judges: Mapping[int, JudgeLine],
) -> list[Move]:
    """The concessions and challenges about one criterion."""
    moves = []
    for answer in answers:
        stance = _stance(answer, criterion.key)
        if stance is None or stance.stance is Stance.AGREE:
            continue
        before, after = _own(answer, criterion.key).score, final_score(answer, criterion.key)
        conceded = stance.stance is Stance.CONCEDE
        moves.append(
            Move(
                judge=judges[answer.seat],
                verb="conceded" if conceded else "challenged",
                criterion=criterion.name,
                scores=f"{score_text(before)} → {score_text(after)}" if after != before else "",
                note=move_note(before, after, entry),
                words=stance.reasoning,
                dissent=entry.dissent and entry.median != score_text(after),
                size=abs(after - before),
            )
        )
    return moves


def move_note(before: Decimal, after: Decimal, entry: CriterionBoard) -> str:
    """What the judge's score is in the end, where the list does not say it otherwise."""
    kept = f"stays at {score_text(after)}" if after == before else ""
    if not entry.dissent or not entry.median or Decimal(entry.median) == after:
        return kept
    gap = after - Decimal(entry.median)
    still = f"{score_text(abs(gap))} {'above' if gap > 0 else 'below'} the median"
    return f"{kept}, {still}" if kept else f"now {still}"
