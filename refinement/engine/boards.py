"""Boards: which of its steps comes next, and how several verdicts become one.

A board's round takes 2n + 1 calls: every judge scores alone, reads the others and answers once, and the clerk
merges. Each answer is stored when it arrives, so the next step only asks those that are missing.
"""

from collections.abc import Sequence
from decimal import Decimal

from refinement.engine.panels import FEWEST_JUDGES
from refinement.engine.types import (
    ZERO,
    BoardStep,
    BoardVerdict,
    Compose,
    CriterionScore,
    Deliberate,
    History,
    Information,
    JudgeMode,
    Merge,
    OnPlateau,
    Round,
    Rubric,
    Score,
    Stance,
    Verdict,
)

SHORT_ARTIFACT_CHARS = 2_000
FEW_CRITERIA = 2
DISSENT_POINTS = Decimal(2)  # on a scale of 0 to 10


def judge_mode(rubric: Rubric, artifact_chars: int | None) -> JudgeMode:
    """Who judges a run with a starting text of this length; None if the producer writes the first draft.

    `auto` is a single judge for a short text with few criteria and no evaluator, and a board otherwise.
    """
    if not rubric.criteria:
        return JudgeMode.SINGLE
    if rubric.judges.mode is not JudgeMode.AUTO:
        return rubric.judges.mode
    short = artifact_chars is not None and artifact_chars <= SHORT_ARTIFACT_CHARS
    simple = short and len(rubric.criteria) <= FEW_CRITERIA and not rubric.runs_a_command
    return JudgeMode.SINGLE if simple else JudgeMode.BOARD


def has_board(rubric: Rubric, history: History, number: int) -> bool:
    """Whether a board judges this round."""
    escalated = 0 < history.escalated_after < number
    return bool(rubric.criteria) and (rubric.judges.mode is JudgeMode.BOARD or escalated)


def may_have_board(rubric: Rubric) -> bool:
    """Whether a board judges the rubric's runs, or may take over on a plateau."""
    return bool(rubric.criteria) and (
        rubric.judges.mode is not JudgeMode.SINGLE or rubric.policy.on_plateau is not OnPlateau.STOP
    )


def quorum(judges: int) -> int:
    """How many judges of a board must be readable: a majority, and never fewer than two."""
    return max(FEWEST_JUDGES, judges // 2 + 1)


def lacks_quorum(history: History, entry: Round) -> bool:
    """Whether every judge has answered, and too few of them could be read."""
    everyone = bool(history.panel) and len(entry.board) >= len(history.panel)
    return everyone and len(readable(entry.board)) < quorum(len(history.panel))


def board_step(rubric: Rubric, history: History, entry: Round) -> BoardStep:
    """The next step of a board that has a quorum or still lacks answers."""
    if not history.panel:
        return Compose(entry.number)
    answered = {answer.seat for answer in entry.board}
    missing = tuple(seat for seat in range(1, len(history.panel) + 1) if seat not in answered)
    if missing:
        return Score(entry.number, missing)
    silent = tuple(answer.seat for answer in readable(entry.board) if answer.stances is None)
    if rubric.judges.deliberation and silent:
        return Deliberate(entry.number, silent)
    return Merge(entry.number, describes=wants_key_change(rubric, history, entry))


def names_changes(rubric: Rubric, history: History, number: int) -> bool:
    """Whether the clerk names what the revision of this round changed.

    It does where somebody reads it: on a board, for a judge that sees the history, and if the rubric names a
    clerk. Elsewhere the feedback that led to a revision stands for its change.
    """
    read = Information.HISTORY in rubric.context.judge or has_board(rubric, history, number)
    return bool(rubric.criteria) and (read or bool(rubric.judges.clerk))


def wants_key_change(rubric: Rubric, history: History, entry: Round) -> bool:
    """Whether the clerk has yet to name what this round changed. It never names a person's own edit."""
    if entry.number == 1 or entry.key_change is not None or entry.by_hand:
        return False
    return names_changes(rubric, history, entry.number)


def readable(board: Sequence[BoardVerdict]) -> list[BoardVerdict]:
    """The judges whose verdict could be read, by seat."""
    return [answer for answer in board if answer.verdict is not None]


def final_score(answer: BoardVerdict, key: str) -> Decimal:
    """The judge's score for a criterion: the revised one where it conceded, its own otherwise."""
    assert answer.verdict is not None
    for stance in answer.stances or ():
        if stance.key == key and stance.stance is Stance.CONCEDE:
            return stance.score
    return next(entry.score for entry in answer.verdict.scores if entry.key == key)


def lower_median(scores: Sequence[Decimal]) -> Decimal:
    """The median; the lower one of the two in the middle, so that it is always a score somebody gave."""
    return sorted(scores)[(len(scores) - 1) // 2]


def merged_verdict(rubric: Rubric, board: Sequence[BoardVerdict], asi: str) -> Verdict:
    """The board's verdict: the median per criterion, in the words of a judge who gave that score."""
    answers = readable(board)
    return Verdict(
        scores=tuple(_merged_score(answers, criterion.key) for criterion in rubric.criteria),
        issues=tuple(
            dict.fromkeys(issue for answer in answers if answer.verdict for issue in answer.verdict.issues)
        ),
        asi=asi,
        judge="board",
        contract_violation=_merged_violation(answers),
    )


def _merged_score(answers: Sequence[BoardVerdict], key: str) -> CriterionScore:
    median = lower_median([final_score(answer, key) for answer in answers])
    speaker = next(answer for answer in answers if final_score(answer, key) == median)
    assert speaker.verdict is not None
    said = next(entry for entry in speaker.verdict.scores if entry.key == key)
    conceded = next((stance.reasoning for stance in speaker.stances or () if stance.key == key), "")
    changed = said.score != median and conceded
    return CriterionScore(key, median, conceded if changed else said.reasoning, said.improvement)


def _merged_violation(answers: Sequence[BoardVerdict]) -> str:
    """Why the output contract is violated, if most judges say so."""
    reasons = [
        answer.verdict.contract_violation
        for answer in answers
        if answer.verdict is not None and answer.verdict.contract_violation
    ]
    return reasons[0] if 2 * len(reasons) > len(answers) else ""


def spreads(rubric: Rubric, board: Sequence[BoardVerdict]) -> dict[str, Decimal]:
    """How far apart the judges' final scores are, by criterion."""
    answers = readable(board)
    found: dict[str, Decimal] = {}
    for criterion in rubric.criteria:
        scores = [final_score(answer, criterion.key) for answer in answers]
        found[criterion.key] = max(scores) - min(scores) if scores else ZERO
    return found


def is_dissent(rubric: Rubric, spread: Decimal) -> bool:
    """Whether the judges are so far apart that their median hides a disagreement."""
    limit = DISSENT_POINTS * (rubric.scale.maximum - rubric.scale.minimum) / 10
    # On a short scale of whole points, one point is no disagreement yet.
    return spread >= (max(limit, DISSENT_POINTS) if rubric.scale.step == 1 else limit)


def spokesperson(rubric: Rubric, board: Sequence[BoardVerdict]) -> BoardVerdict:
    """The judge closest to the board's scores; its suggestion is used if the clerk's cannot be read."""
    answers = readable(board)
    merged = merged_verdict(rubric, board, "").scores

    def distance(answer: BoardVerdict) -> Decimal:
        return sum((abs(final_score(answer, entry.key) - entry.score) for entry in merged), ZERO)

    return min(answers, key=distance)
