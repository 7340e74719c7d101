"""How far a list was looked through, in words: down to a score, a number, a length."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from refinement.selectors.run_orders import NEWEST, Order, Place
from refinement.selectors.run_words import duration
from refinement.selectors.score_words import USUAL_DECIMALS, composite_change, composite_words

KEY_WORDS: dict[str, Callable[[Any], str]] = {
    "newest": lambda number: f"number {number}",
    "best": lambda score: f"a best score of {composite_words(score, None)}",
    "r1": lambda score: f"a first score of {composite_words(score, None)}",
    "improvement": lambda gap: f"an improvement of {composite_change(gap, Decimal(), USUAL_DECIMALS) or 0}",
    "rounds": lambda count: f"{count} round{'' if count == 1 else 's'}",
    "tokens": lambda count: f"{count:,} tokens",
    "time": lambda seconds: f"{duration(float(seconds))} of model time",
}


def reach_words(order: Order, place: Place, *, upwards: bool) -> str:
    """Where a list goes on, as a reader knows its order."""
    key = KEY_WORDS[order.name](place.number if order is NEWEST else place.value)
    return f"{'up' if upwards else 'down'} to {key}"
