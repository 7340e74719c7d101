"""What calls cost, and money as text."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

from django.conf import settings

MILLION = 1_000_000
CENT = Decimal("0.01")
EXACT = Decimal("0.00000001")  # as stored
# By "ENDPOINT/MODEL": per million tokens of prompts and of replies, as texts.
Prices = Mapping[str, Sequence[str]]


def cost_of(
    prices: Prices, endpoint: str, model: str, prompt_tokens: int, completion_tokens: int
) -> Decimal | None:
    """The cost of these tokens; None if the model has no price."""
    price = prices.get(f"{endpoint}/{model}") if prices else None
    if price is None:
        return None
    cost = prompt_tokens * Decimal(price[0]) + completion_tokens * Decimal(price[1])
    return (cost / MILLION).quantize(EXACT)


def money(value: Decimal) -> str:
    """An amount with the instance's currency: `$1,234.50`, `$0.17`, `$0.0042`."""
    amount = Decimal(value)
    if not amount or amount >= CENT:
        return f"{settings.CURRENCY}{amount.quantize(CENT, ROUND_HALF_UP):,}"
    return f"{settings.CURRENCY}{float(f'{amount:.2g}'):.8f}".rstrip("0")
