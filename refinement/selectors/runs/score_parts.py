"""How a score was computed if checks count in addition to the judge's criteria."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from refinement.engine.scoring import shown, weighted_mean
from refinement.engine.types import Composite, Rubric

CLOSE = Decimal("0.0001")  # stored scores are rounded


def score_parts(
    rubric: Rubric, composite: Decimal | None, scores: Mapping[str, Any], shares: Mapping[str, Decimal]
) -> str:
    """The shares of the checks and of the criteria, as a sentence.

    Empty where the score is the mean of the criteria or of the checks alone, or was set by a rule, as after
    a violated output contract.
    """
    policy = rubric.policy
    plain = policy.composite is Composite.PLAIN_MEAN
    one, top, bottom = Decimal(1), rubric.scale.maximum, rubric.scale.minimum
    criteria = [
        (one if plain else entry.weight, Decimal(scores[entry.key]))
        for entry in rubric.criteria
        if entry.key in scores
    ]
    checks = [
        (one if plain else entry.weight, bottom + shares[entry.key] * (top - bottom))
        for entry in rubric.checks
        if entry.key in shares
    ]
    if composite is None or not policy.checks_in_composite or not criteria or not checks:
        return ""
    if abs(weighted_mean([*criteria, *checks]) - composite) > CLOSE:
        return ""
    weight = sum(part for part, _ in checks) / sum(part for part, _ in [*checks, *criteria])
    share = round(weight * 100)
    whole, by_code, by_judge = (
        shown(value, policy) for value in (composite, weighted_mean(checks), weighted_mean(criteria))
    )
    return (
        f"{whole} = checks {by_code} ({share} % of the weight) and the judge’s criteria {by_judge} "
        f"({100 - share} %)."
    )
