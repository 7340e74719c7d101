"""How steady a judge is, and how near to people: the numbers of the test bench."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from refinement.engine.numbers import exact
from refinement.engine.types import ZERO, Rubric

FEW_TRIALS = 3  # below this, a spread says nothing
GAP_SHARE = Decimal("0.05")  # of the scale: the gain that a loop is usually asked to notice
TWICE = Decimal(2)  # about 95 of 100 values lie within two deviations
ENOUGH_PAIRS = 5  # below this, an order of rounds is chance
SMALL_SCALE = Decimal(5)  # from this width on, a point is what people call one


class Steadiness(StrEnum):
    """What repeats of one judgement say of the judge."""

    TOO_FEW = "too_few"
    SAME = "same"
    STEADY = "steady"
    NOISY = "noisy"


@dataclass(frozen=True, slots=True)
class Spread:
    """Repeated values in brief; one value alone has no deviation."""

    count: int
    mean: Decimal
    minimum: Decimal
    maximum: Decimal
    deviation: Decimal | None


@dataclass(frozen=True, slots=True)
class Shift:
    """From one set of repeats to another; within its margin, a difference may be nothing but noise."""

    difference: Decimal
    margin: Decimal | None

    @property
    def clear(self) -> bool | None:
        """Whether the difference is more than noise; None where that cannot be told."""
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
    # Equal values are said to have none: the mean of thirds is not exact, and would leave a trace.
    if min(values) == max(values):
        return ZERO
    squares = sum(((value - mean) ** 2 for value in values), ZERO)
    return (squares / (len(values) - 1)).sqrt()


def shift_between(before: Spread, after: Spread) -> Shift:
    """How far the mean moved, and how far it might have moved by chance."""
    difference = after.mean - before.mean
    if before.deviation is None or after.deviation is None:
        return Shift(difference, None)
    error = before.deviation**2 / before.count + after.deviation**2 / after.count
    return Shift(difference, TWICE * error.sqrt())


def telling_gap(spread: Spread) -> Decimal | None:
    """The smallest gap between two single judgements that is more than noise."""
    if spread.deviation is None:
        return None
    return TWICE * (TWICE * spread.deviation**2).sqrt()


def wanted_gap(rubric: Rubric) -> Decimal:
    """The gap that a judge of this rubric has to tell: its least gain, or a twentieth of the scale."""
    least = rubric.policy.minimum_gain
    if least is not None and least > ZERO:
        return least
    return GAP_SHARE * (rubric.scale.maximum - rubric.scale.minimum)


def steadiness_of(spread: Spread, wanted: Decimal) -> Steadiness:
    """Whether single judgements can be told apart by as little as is wanted."""
    gap = telling_gap(spread)
    if gap is None or spread.count < FEW_TRIALS:
        return Steadiness.TOO_FEW
    if gap == ZERO:
        return Steadiness.SAME
    return Steadiness.STEADY if gap <= wanted else Steadiness.NOISY


def differences_from(people: Mapping[str, Decimal], judge: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """The judge's mean less the people's score, for each criterion that both have scored."""
    return {key: mean - people[key] for key, mean in judge.items() if key in people}


def mean_absolute(differences: Mapping[str, Decimal]) -> Decimal | None:
    """How far apart the two are on average, whatever the direction; None where nothing is shared."""
    if not differences:
        return None
    return sum((abs(value) for value in differences.values()), ZERO) / len(differences)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How near a judge is to people over pairs of scores (the judge's first)."""

    pairs: int
    apart: Decimal  # on average, whatever the direction
    bias: Decimal  # the judge less the people: positive where the judge is kinder
    near_share: Decimal  # of pairs that are within `near_gap`
    order: Decimal | None  # Spearman's rank correlation; None where it says nothing


def near_gap(rubric: Rubric) -> Decimal:
    """The gap that still counts as the same opinion: a point, or a tenth of a small scale."""
    width = rubric.scale.maximum - rubric.scale.minimum
    return Decimal(1) if width >= SMALL_SCALE else width / 10


def agreement_of(pairs: Sequence[tuple[Decimal, Decimal]], near: Decimal) -> Agreement | None:
    """What the pairs say together; None without any."""
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


def rank_correlation(pairs: Sequence[tuple[Decimal, Decimal]]) -> Decimal | None:
    """Spearman's coefficient, ties sharing their rank; None for few pairs or where one side never varies."""
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
    # Equal values share the middle of the places that they take.
    return [ordered.index(value) + Decimal(ordered.count(value) + 1) / 2 for value in values]
