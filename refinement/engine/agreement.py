"""Statistics about judges: noise between repeats, and agreement with human scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from refinement.engine.boards import final_score, readable
from refinement.engine.numbers import exact
from refinement.engine.types import ZERO, BoardVerdict, Rubric

FEW_TRIALS = 3  # with fewer, a spread is meaningless
GAP_SHARE = Decimal("0.05")  # default for the smallest gain to detect, as a share of the scale
TWICE = Decimal(2)  # about 95 of 100 values lie within two deviations
ENOUGH_PAIRS = 5  # with fewer, a rank correlation is chance
SMALL_SCALE = Decimal(5)  # scales at least this wide use whole points


class Steadiness(StrEnum):
    """How consistent a judge is when it scores the same text several times."""

    TOO_FEW = "too_few"
    SAME = "same"
    STEADY = "steady"
    NOISY = "noisy"


@dataclass(frozen=True, slots=True)
class Spread:
    """Summary of repeated values. A single value has no deviation."""

    count: int
    mean: Decimal
    minimum: Decimal
    maximum: Decimal
    deviation: Decimal | None


@dataclass(frozen=True, slots=True)
class Shift:
    """The difference between two sets of repeats. A difference within the margin may be noise."""

    difference: Decimal
    margin: Decimal | None

    @property
    def clear(self) -> bool | None:
        """Whether the difference is more than noise; None if there are too few repeats."""
        return None if self.margin is None else abs(self.difference) > self.margin


def spread_of(values: Sequence[Decimal]) -> Spread:
    """Mean, range and sample standard deviation, unrounded."""
    if not values:
        raise ValueError("a spread needs at least one value")
    count = len(values)
    mean = sum((exact(value) for value in values), ZERO) / count
    return Spread(count, mean, min(values), max(values), _deviation(values, mean))


def _deviation(values: Sequence[Decimal], mean: Decimal) -> Decimal | None:
    if len(values) < 2:
        return None
    # The mean is not always exact (thirds), so equal values would get a tiny deviation.
    if min(values) == max(values):
        return ZERO
    squares = sum(((value - mean) ** 2 for value in values), ZERO)
    return (squares / (len(values) - 1)).sqrt()


def shift_between(before: Spread, after: Spread) -> Shift:
    """How far the mean moved, with the margin that chance alone could explain."""
    difference = after.mean - before.mean
    if before.deviation is None or after.deviation is None:
        return Shift(difference, None)
    error = before.deviation**2 / before.count + after.deviation**2 / after.count
    return Shift(difference, TWICE * error.sqrt())


def detectable_gap(spread: Spread) -> Decimal | None:
    """The smallest gap between two single judgements that is more than noise."""
    if spread.deviation is None:
        return None
    return TWICE * (TWICE * spread.deviation**2).sqrt()


def required_gap(rubric: Rubric) -> Decimal:
    """The smallest gap the judge must detect: the policy's minimum gain, or 5 % of the scale."""
    minimum = rubric.policy.least_gain
    if minimum is not None and minimum > ZERO:
        return minimum
    return GAP_SHARE * (rubric.scale.maximum - rubric.scale.minimum)


def steadiness_of(spread: Spread, required: Decimal) -> Steadiness:
    """Whether the judge is consistent enough to detect a gap of `required`."""
    gap = detectable_gap(spread)
    if gap is None or spread.count < FEW_TRIALS:
        return Steadiness.TOO_FEW
    if gap == ZERO:
        return Steadiness.SAME
    return Steadiness.STEADY if gap <= required else Steadiness.NOISY


def differences_from(people: Mapping[str, Decimal], judge: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """The judge's mean minus the human score, for each criterion that both scored."""
    return {key: mean - people[key] for key, mean in judge.items() if key in people}


def mean_absolute(differences: Mapping[str, Decimal]) -> Decimal | None:
    """The mean absolute difference; None if there are no differences."""
    if not differences:
        return None
    return sum((abs(value) for value in differences.values()), ZERO) / len(differences)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement between judge and people over pairs of scores (judge, person)."""

    pairs: int
    apart: Decimal  # mean absolute difference
    bias: Decimal  # mean of judge minus person; positive if the judge scores higher
    near_share: Decimal  # share of pairs within `near_gap`
    order: Decimal | None  # Spearman's rank correlation; None if undefined


def near_gap(rubric: Rubric) -> Decimal:
    """The largest gap that counts as agreement: one point, or a tenth of a small scale."""
    width = rubric.scale.maximum - rubric.scale.minimum
    return Decimal(1) if width >= SMALL_SCALE else width / 10


def agreement_of(pairs: Sequence[tuple[Decimal, Decimal]], near: Decimal) -> Agreement | None:
    """The agreement over all pairs; None if there are no pairs."""
    if not pairs:
        return None
    gaps = [exact(judge) - exact(person) for judge, person in pairs]
    count = len(gaps)
    return Agreement(
        pairs=count,
        apart=sum((abs(gap) for gap in gaps), ZERO) / count,
        bias=sum(gaps, ZERO) / count,
        near_share=Decimal(sum(abs(gap) <= near for gap in gaps)) / count,
        order=rank_correlation(pairs),
    )


def judge_pairs(
    board: Sequence[BoardVerdict], person: Mapping[str, Decimal]
) -> dict[int, list[tuple[Decimal, Decimal]]]:
    """Each readable judge's final score and the person's, for the criteria that both scored, by seat."""
    return {
        answer.seat: [
            (final_score(answer, entry.key), person[entry.key])
            for entry in (answer.verdict.scores if answer.verdict else ())
            if entry.key in person
        ]
        for answer in readable(board)
    }


def rank_correlation(pairs: Sequence[tuple[Decimal, Decimal]]) -> Decimal | None:
    """Spearman's coefficient with shared ranks for ties; None for few pairs or a constant side."""
    if len(pairs) < ENOUGH_PAIRS:
        return None
    first, second = (_ranks([pair[side] for pair in pairs]) for side in (0, 1))
    middle = Decimal(len(pairs) + 1) / 2
    spread = sum(((rank - middle) ** 2 for rank in first), ZERO) * sum(
        ((rank - middle) ** 2 for rank in second), ZERO
    )
    if spread == ZERO:
        return None
    together = sum(((a - middle) * (b - middle) for a, b in zip(first, second, strict=True)), ZERO)
    return together / spread.sqrt()


def _ranks(values: Sequence[Decimal]) -> list[Decimal]:
    ordered = sorted(values)
    # Ties share the mean of their ranks.
    return [ordered.index(value) + Decimal(ordered.count(value) + 1) / 2 for value in values]
