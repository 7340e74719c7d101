"""Computes the composite from verdict, checks and penalties, and finds the best round."""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from refinement.engine.types import (
    ONE,
    ZERO,
    Assessment,
    CheckResult,
    Composite,
    EvaluatorOutput,
    Gate,
    Penalty,
    Policy,
    Round,
    Rubric,
    Verdict,
)

METRIC_DECIMALS = 6


def assess(
    rubric: Rubric,
    verdict: Verdict | None,
    checks: tuple[CheckResult, ...] = (),
    penalties: tuple[Penalty, ...] = (),
    evaluator: EvaluatorOutput | None = None,
    contract_violation: str = "",
) -> Assessment:
    """The round's assessment. A total stated by the judge is ignored.

    A candidate that fails completely or violates the output contract gets the minimum, whatever the judge
    says and whichever checks it passes. The judge only explains the cause.
    """
    scores = penalised_scores(rubric, verdict, penalties)
    contract_violation = contract_violation or (verdict.contract_violation if verdict else "")
    failed = bool(contract_violation or (evaluator is not None and evaluator.failure))
    if failed:
        scores = dict.fromkeys(scores, rubric.scale.minimum)
    return Assessment(
        composite=rubric.scale.minimum if failed else composite(rubric, scores, checks),
        scores=scores,
        verdicts=(verdict,) if verdict else (),
        checks=checks,
        penalties=penalties,
        evaluator=evaluator,
        contract_violation=contract_violation,
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
            (Decimal(1) if plain else check.weight, bottom + check.share * (top - bottom)) for check in checks
        ]
    return weighted_mean(parts)


def weighted_mean(parts: Sequence[tuple[Decimal, Decimal]]) -> Decimal:
    """The mean of (weight, value) pairs, unrounded."""
    total = sum((weight for weight, _ in parts), ZERO)
    return sum((weight * value for weight, value in parts), ZERO) / total


def reaches_threshold(rubric: Rubric, assessment: Assessment) -> bool:
    """Whether the composite is at or above the pass threshold. A failed check can still prevent a pass.

    Without a threshold, the gates alone decide.
    """
    threshold = rubric.policy.pass_threshold
    return rubric.gates is not None if threshold is None else assessment.composite >= threshold


def unmet_gates(rubric: Rubric, assessment: Assessment) -> tuple[Gate, ...]:
    """The gates that keep the round from passing."""
    return tuple(gate for gate in rubric.gates or () if gate_share(rubric, assessment, gate) < gate.threshold)


def gate_share(rubric: Rubric, assessment: Assessment, gate: Gate) -> Decimal:
    """The weighted mean of a gate's criteria and checks, 0 to 1. A check that must hold counts as 0 or 1."""
    checks = {result.key: result for result in assessment.checks}
    if len(gate.keys) == 1 and gate.threshold == ONE and gate.keys[0] in checks:
        return Decimal(checks[gate.keys[0]].passed)
    weights = {criterion.key: criterion.weight for criterion in rubric.criteria}
    return weighted_mean(
        [
            (checks[key].weight, checks[key].share)
            if key in checks
            else (weights[key], rubric.scale.normalised(assessment.scores[key]))
            for key in gate.keys
        ]
    )


def passes(rubric: Rubric, assessment: Assessment) -> bool:
    """Whether the round reaches the threshold and every gate, and no check of severity error failed."""
    return (
        reaches_threshold(rubric, assessment)
        and not assessment.blocking
        and not unmet_gates(rubric, assessment)
    )


def is_perfect(rubric: Rubric, assessment: Assessment) -> bool:
    """Whether the round reaches the perfect score, and no check of severity error failed."""
    perfect = rubric.policy.perfect_score
    return (
        perfect is not None
        and assessment.composite >= perfect
        and not assessment.blocking
        and not unmet_gates(rubric, assessment)
    )


def succeeds(rubric: Rubric, assessment: Assessment) -> bool:
    """Whether a run can end in PASS with this round."""
    return passes(rubric, assessment) or is_perfect(rubric, assessment)


def ranked_scores(rubric: Rubric, assessment: Assessment) -> tuple[Decimal, ...]:
    """The scores that rank a round: the composite, after the primary criterion if the policy says so."""
    if rubric.primary is not None:
        return (assessment.scores[rubric.primary.key], assessment.composite)
    return (assessment.composite,)


def tie_break(rubric: Rubric, assessment: Assessment) -> tuple[Decimal, ...]:
    """The first metric as a sort key. A round without it ranks below every round that has it."""
    if not rubric.evaluator.metrics:
        return ()
    metric = rubric.evaluator.metrics[0]
    found = assessment.metrics.get(metric.name)
    if found is None:
        return (ZERO,)
    return (ONE, -found.value if metric.lower_is_better else found.value)


def rank(rubric: Rubric, assessment: Assessment) -> tuple[Decimal, ...]:
    """The sort key for rounds. Every comparison of two rounds uses it: best, worse, improved, plateau.

    A round that passes ranks above one that a failed check keeps from passing, so that the result of a
    passed run is a round that passed. Without such checks this never changes the order of composites.
    The rubric's first metric breaks a tie between the scores.
    """
    success = Decimal(succeeds(rubric, assessment))
    return (success, *ranked_scores(rubric, assessment), *tie_break(rubric, assessment))


def gain(rubric: Rubric, before: Assessment, after: Assessment) -> Decimal:
    """How much a round gained: the largest gain of a ranked score, or the loss if it ranks lower.

    The primary criterion comes first here, too: a higher composite is no gain if the primary score fell.
    A better metric does not count as a gain, because it has its own unit.
    """
    pairs = zip(ranked_scores(rubric, before), ranked_scores(rubric, after), strict=True)
    changes = [new - old for old, new in pairs]
    first = next((change for change in changes if change), ZERO)
    return max(changes) if first > ZERO else first


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


def shown_metric(value: Decimal) -> str:
    """A metric for display: at most six decimals, and an exponent only for very small numbers."""
    rounded = round(value, METRIC_DECIMALS)
    if value and not rounded:
        return f"{value:.2e}"
    return f"{rounded.normalize():f}"
