"""Weights as whole numbers: stored weights such as 0.25 and 0.20 are edited as 5 and 4."""

from collections.abc import Iterable
from decimal import Decimal
from math import gcd

from refinement.forms.rubrics.kinds import COLUMN_PLACES
from refinement.forms.rubrics.values import Refused, weight_of

LARGEST = 100  # weights without a handy common unit are shown as they are
STEP = Decimal(1).scaleb(-COLUMN_PLACES)


def unit_of(weights: Iterable[Decimal]) -> Decimal:
    """The largest number that all weights are whole multiples of; 1 if the multiples would be unwieldy."""
    counts = [int(weight / STEP) for weight in weights]
    if not counts or not all(counts):
        return Decimal(1)
    unit = gcd(*counts)
    return unit * STEP if max(counts) // unit <= LARGEST else Decimal(1)


def shown_weight(weight: Decimal, unit: Decimal) -> str:
    """The weight in units, without trailing zeros."""
    return f"{(weight / unit).quantize(STEP).normalize():f}"


def stored_weight(text: str, unit: Decimal) -> Decimal:
    """The weight of a typed number of units. Raises Refused."""
    weight = (weight_of(text) * unit).quantize(STEP)
    if not weight:
        raise Refused("Too small compared with the other weights.")
    return weight.normalize()


def usual_of(weights: Iterable[str]) -> str:
    """The weight of a new criterion: the mean of the others, at least 1."""
    sound = sound_weights(weights)
    return str(max(1, round(sum(sound, Decimal(0)) / len(sound)))) if sound else "1"


def shares_of(weights: Iterable[str]) -> list[Decimal | None]:
    """Each weight's share of the total in percent; None where it is not a number."""
    typed = [_sound(text) for text in weights]
    total = sum((weight for weight in typed if weight is not None), Decimal(0))
    return [None if weight is None else 100 * weight / total for weight in typed]


def sound_weights(weights: Iterable[str]) -> list[Decimal]:
    return [weight for text in weights if (weight := _sound(text)) is not None]


def _sound(text: str) -> Decimal | None:
    try:
        return weight_of(text)
    except Refused:
        return None
