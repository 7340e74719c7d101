"""Noise of a judge: which changes of a score show no difference, and scores that move on the same text."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.numbers import exact
from refinement.engine.safeguards import change
from refinement.engine.scoring import best_round
from refinement.engine.types import Assessment, History, Round, Rubric

# Two texts count as nearly the same up to this share of changed words.
NEARLY_SAME = Decimal("0.01")
# What a round has to gain while the judge's noise is not known, as a share of the scale.
USUAL_GAIN = Decimal("0.05")


def within_noise(
    moved: Decimal | None, smallest_difference: Decimal | None, same_text_moved: Decimal | None = None
) -> bool | None:
    """Whether a change of a judge's score shows no difference; None if that is unknown.

    `smallest_difference` is the smallest real difference between two of its scores, and `same_text_moved`
    how far its score moved in the run while the text stayed the same. A change that is larger than the
    latter may still be noise.
    """
    known = [exact(value) for value in (smallest_difference, same_text_moved) if value is not None]
    if moved is None or not known:
        return None
    if abs(moved) <= max(known):
        return True
    return None if smallest_difference is None else False


def improvement_is_noise(
    rounds: int, improvement: Decimal | None, smallest: Decimal | None, same: Decimal | None, escalated: int
) -> bool | None:
    """Whether a run's improvement shows no difference.

    None if nothing is known about the judge's noise, or if there is only one score. A board that took over
    after round `escalated` is another judge than the one whose smallest difference is known.
    """
    if rounds < 2:
        return None
    return within_noise(improvement, None if escalated else smallest, same)


def same_text(before: str, after: str) -> bool:
    """Whether two texts are the same, or nearly so."""
    return bool(before) and bool(after) and (before == after or change(before, after) <= NEARLY_SAME)


def usual_gain(rubric: Rubric) -> Decimal:
    """The minimum gain while the judge's noise is not known."""
    return USUAL_GAIN * (rubric.scale.maximum - rubric.scale.minimum)


@dataclass(frozen=True, slots=True)
class SameTextMove:
    """The score moved although the text stayed the same as in an earlier round, or nearly so."""

    from_round: int
    moved: Decimal
    candidate_change: Decimal  # the share of words; 0 for the same text


def same_text_move(rubric: Rubric, history: History) -> SameTextMove | None:
    """How far the newest round's score is from that of an earlier round with the same text.

    It is compared with the first round, the best before it and the previous one; the largest move counts.
    A nearly identical text may well fail another check or avoid a penalty, which is not the judge's noise.
    """
    newest = history.rounds[-1]
    moves = (move_between(rubric, entry, newest) for entry in earlier_rounds(rubric, history))
    return max((move for move in moves if move), key=lambda move: abs(move.moved), default=None)


def earlier_rounds(rubric: Rubric, history: History) -> Iterable[Round]:
    """The rounds before the newest one that the same judges scored and that are compared with it."""
    newest = history.rounds[-1]
    alike = [
        entry
        for entry in history.assessed
        if entry.number < newest.number
        and (entry.number > history.escalated_after) is (newest.number > history.escalated_after)
    ]
    best = best_round(rubric, alike)
    return [entry for entry in alike if entry in (alike[0], best, alike[-1])]


def move_between(rubric: Rubric, before: Round, after: Round) -> SameTextMove | None:
    """The move of the score, if the text stayed the same and the move can be seen when it is rounded."""
    old, new = before.assessment, after.assessment
    if old is None or new is None or not same_text(before.candidate, after.candidate):
        return None
    changed = change(before.candidate, after.candidate)
    if before.candidate != after.candidate and facts(old) != facts(new):
        return None
    moved = new.composite - old.composite
    if not round(moved, rubric.policy.composite_decimals):
        return None
    return SameTextMove(before.number, moved, changed)


def facts(assessment: Assessment) -> tuple[object, ...]:
    """What code found out about a candidate, whatever the judge says."""
    return (
        [(result.key, result.passed, result.share) for result in assessment.checks],
        assessment.penalties,
        assessment.contract_violation,
    )
