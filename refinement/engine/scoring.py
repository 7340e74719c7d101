"""Computes the composite from verdict, checks and penalties, and finds the best round."""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from refinement.engine.types import (
    ZERO,
    Assessment,
    CheckResult,
    Composite,
    EvaluatorOutput,
    Penalty,
    Policy,
    Round,
    Rubric,
    Verdict,
)


def assess(
    rubric: Rubric,
    verdict: Verdict | None,
    checks: tuple[CheckResult, ...] = (),
    penalties: tuple[Penalty, ...] = (),
    evaluator: EvaluatorOutput | None = None,
) -> Assessment:
    """The round's assessment. A total stated by the judge is ignored."""
    scores = penalised_scores(rubric, verdict, penalties)
    if evaluator is not None and evaluator.failure:
        # A candidate that fails completely gets the minimum. The judge only explains the cause.
        scores = dict.fromkeys(scores, rubric.scale.minimum)
    return Assessment(
        composite=composite(rubric, scores, checks),
        scores=scores,
        verdicts=(verdict,) if verdict else (),
        checks=checks,
        penalties=penalties,
        evaluator=evaluator,
    )


def penalised_scores(
    rubric: Rubric, verdict: Verdict | None, penalties: tuple[Penalty, ...]
) -> dict[str, Decimal]:
    """Each criterion's score after penalties, in rubric order and never below the minimum.

    Raises ValueError if the verdict does not score exactly the rubric's criteria.
    """
    scores = {entry.key: entry.score for entry in verdict.scores} if verdict else {}
    keys = [criterion.key for criterion in rubric.criteria]
    if set(scores) != set(keys):
        raise ValueError(f"the verdict scores {sorted(scores)}, but the rubric requires {sorted(keys)}")
    deductions = dict.fromkeys(keys, ZERO)
    for penalty in penalties:
        deductions[penalty.criterion] += penalty.points
    return {key: max(rubric.scale.minimum, scores[key] - deductions[key]) for key in keys}


def composite(rubric: Rubric, scores: dict[str, Decimal], checks: tuple[CheckResult, ...]) -> Decimal:
    """One unrounded number on the rubric's scale."""
    plain = rubric.policy.composite is Composite.PLAIN_MEAN
    parts = [
        (Decimal(1) if plain else criterion.weight, scores[criterion.key]) for criterion in rubric.criteria
    ]
    if rubric.policy.checks_in_composite:
        top, bottom = rubric.scale.maximum, rubric.scale.minimum
        parts += [
            (Decimal(1) if plain else check.weight, top if check.passed else bottom) for check in checks
        ]
    return weighted_mean(parts)


def weighted_mean(parts: Sequence[tuple[Decimal, Decimal]]) -> Decimal:
    """The mean of (weight, value) pairs, unrounded."""
    total = sum((weight for weight, _ in parts), ZERO)
    return sum((weight * value for weight, value in parts), ZERO) / total


def rank(rubric: Rubric, assessment: Assessment) -> tuple[Decimal, ...]:
    """The sort key for rounds: the composite, after the primary criterion if the policy says so."""
    primary = next((criterion.key for criterion in rubric.criteria if criterion.primary), None)
    if rubric.policy.primary_first and primary is not None:
        return (assessment.scores[primary], assessment.composite)
    return (assessment.composite,)


def best_round(rubric: Rubric, rounds: Sequence[Round]) -> Round | None:
    """The best assessed round; a tie keeps the earliest."""
    best: Round | None = None
    best_rank: tuple[Decimal, ...] = ()
    for entry in rounds:
        if entry.assessment is None:
            continue
        entry_rank = rank(rubric, entry.assessment)
        if best is None or entry_rank > best_rank:
            best, best_rank = entry, entry_rank
    return best


def shown(value: Decimal, policy: Policy) -> str:
    """A score rounded for display."""
    return shown_to(value, policy.composite_decimals)


def shown_to(value: Decimal, decimals: int) -> str:
    """A score rounded to this many decimals for display."""
    return str(value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN))
