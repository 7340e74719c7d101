"""Sum and normalisation of weights."""

from collections.abc import Iterable
from decimal import Decimal

from refinement.forms.rubrics.initial import Fields
from refinement.forms.rubrics.rows import row_numbers
from refinement.forms.rubrics.values import Refused, weight_of

SHARES = 10_000  # a weight has four places


def total_of(weights: Iterable[str]) -> str:
    """The sum of the valid weights, without trailing zeros."""
    total = sum((weight for text in weights if (weight := _sound(text)) is not None), Decimal(0))
    return f"{total.normalize():f}" if total else "0"


def usual_of(weights: Iterable[str]) -> str:
    """The weight of a new criterion: the mean of the others."""
    sound = [weight for text in weights if (weight := _sound(text)) is not None]
    if not sound:
        return "1"
    mean = max(sum(sound, Decimal(0)) / len(sound), Decimal("0.01"))
    return f"{round(mean, 2).normalize():f}"


def _sound(text: str) -> Decimal | None:
    try:
        return weight_of(text)
    except Refused:
        return None


def with_shares(fields: Fields) -> Fields:
    """The fields with criterion weights scaled to add up to 1; invalid ones stay."""
    names = [f"criterion-{number}-weight" for number in row_numbers(fields, "criterion")]
    weights = {name: weight for name in names if (weight := _sound(fields.get(name, ""))) is not None}
    return fields | dict(zip(weights, shares(list(weights.values())), strict=True))


def shares(weights: list[Decimal]) -> list[str]:
    """Each weight's share of 1 in ten-thousandths, by largest remainder, at least one."""
    if not weights:
        return []
    exact = [weight * SHARES / sum(weights) for weight in weights]
    parts = [max(1, int(share)) for share in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: (int(exact[place]) - exact[place], place))
    missing = SHARES - sum(parts)
    for place in by_remainder[: max(0, missing)]:
        parts[place] += 1
    parts[max(range(len(parts)), key=lambda place: parts[place])] += min(0, missing)
    return [f"{(Decimal(part) / SHARES).normalize():f}" for part in parts]
