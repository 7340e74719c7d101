"""What a planned run may cost in money."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.types import Role
from refinement.pricing import Prices, cost_of, money
from refinement.providers.registry import Target
from refinement.selectors.launch.estimates import Estimate, RoleShare
from refinement.selectors.launch.judging import Judging


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """From a run that stops as early as possible to one that uses every round. For all repeats together."""

    low: Decimal
    high: Decimal
    priced: list[str]  # models with a price
    all_priced: bool

    def __str__(self) -> str:
        low, high = money(self.low), money(self.high)
        return low if low == high else f"{low} to {high}"


def cost_estimate(
    estimate: Estimate,
    judging: Judging,
    producer: Target | None,
    prices: Prices,
    held_out: Target | None = None,
) -> CostEstimate | None:
    """The cost of the models with a price; None if there are none."""
    low = high = Decimal(0)
    found: dict[Target, bool] = {}
    for share in estimate.roles:
        targets = targets_of(share.role, judging, producer)
        for target in targets:
            costs = [share_cost(share, target, prices, at, len(targets)) for at in ("low", "high")]
            found[target] = costs[0] is not None
            low, high = low + (costs[0] or 0), high + (costs[1] or 0)
    after = Decimal(0)
    if held_out is not None and estimate.held_out is not None:
        cost = share_cost(estimate.held_out, held_out, prices, "high", 1)
        found[held_out], after = cost is not None, cost or after
    priced = [target.model for target, has_price in found.items() if has_price]
    if not priced:
        return None
    low, high = low * within_limit(estimate, "low"), high * within_limit(estimate, "high") + after
    return CostEstimate(low, high, priced, all_priced=len(priced) == len(found))


def within_limit(estimate: Estimate, at: str) -> Decimal:
    """The part of the roles' tokens that the run's token limit allows."""
    total = sum(getattr(share.tokens, at) for share in estimate.roles)
    after = getattr(estimate.held_out.tokens, at) if estimate.held_out else 0
    allowed = Decimal(getattr(estimate.tokens, at) - after)
    return min(Decimal(1), allowed / total) if total else Decimal(1)


def targets_of(role: Role, judging: Judging, producer: Target | None) -> Sequence[Target]:
    """The models that share a role's calls."""
    if role is Role.JUDGE:
        named = [judge.target for judge in judging.judges] or [judging.judge]
    else:
        named = [producer if role is Role.PRODUCER else judging.clerk]
    return [target for target in named if target is not None]


def share_cost(share: RoleShare, target: Target, prices: Prices, at: str, parts: int) -> Decimal | None:
    """One model's part of a role's cost, at the low or the high end of the estimate."""
    replies: int = getattr(share.replies, at)
    prompts: int = getattr(share.tokens, at) - replies
    cost = cost_of(prices, target.endpoint, target.model, prompts, replies)
    return None if cost is None else cost / parts
