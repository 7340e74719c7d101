"""What a project has used of its monthly budget."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import F, Sum
from django.utils import timezone

from refinement.models import Bench, BenchCall, Project, ProposalCall, Run
from refinement.pricing import money

WARN_AT = Decimal("0.8")
REFUSED = (
    "The project has used up its budget for this month: {}. An owner can raise it in the project's settings."
)
CLOSE = "The project has used {} of its budget for this month."


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a budget, and how much of it is used."""

    used: Decimal
    limit: Decimal
    is_money: bool

    @property
    def share(self) -> Decimal:
        return self.used / self.limit if self.limit else Decimal(1)

    def __str__(self) -> str:
        if self.is_money:
            return f"{money(self.used)} of {money(self.limit)}"
        return f"{self.used:,} of {self.limit:,} tokens"


@dataclass(frozen=True, slots=True)
class Budget:
    """A project's limits for this month. Without limits it is never used up."""

    limits: tuple[Limit, ...]

    @property
    def refusal(self) -> str:
        """Why nothing can be launched; empty if something can."""
        spent = [str(limit) for limit in self.limits if limit.share >= 1]
        return REFUSED.format(" and ".join(spent)) if spent else ""

    @property
    def warning(self) -> str:
        """That the budget is nearly used up; empty if it is not, or if it is used up."""
        close = [str(limit) for limit in self.limits if limit.share >= WARN_AT]
        return CLOSE.format(" and ".join(close)) if close and not self.refusal else ""


NO_BUDGET = Budget(())


def budget_of(project: Project) -> Budget:
    """The project's budget. Reads what was launched only if there is one."""
    if project.monthly_cost is None and project.monthly_tokens is None:
        return NO_BUDGET
    used = month_usage(project)
    wanted = ((used[0], project.monthly_cost, True), (used[1], project.monthly_tokens, False))
    return Budget(
        tuple(Limit(spent, Decimal(most), kind) for spent, most, kind in wanted if most is not None)
    )


def month_start() -> datetime:
    """When this calendar month began, in the instance's time zone."""
    return timezone.localtime().replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def month_usage(project: Project) -> tuple[Decimal, Decimal]:
    """The cost and the tokens of what was launched in this calendar month. Three queries.

    Runs, tests and measurements of judges, such as held-out ones, and rubric proposals.
    """
    start = month_start()
    runs = Run.objects.filter(project=project, created_at__gte=start, source=None)
    benches = Bench.objects.filter(project=project, created_at__gte=start)
    sums = {"cost": Sum("cost"), "tokens": Sum(F("prompt_tokens") + F("completion_tokens"))}
    tests = BenchCall.objects.filter(trial__bench__in=benches)
    proposals = ProposalCall.objects.filter(proposal__project=project, proposal__created_at__gte=start)
    found = [rows.aggregate(**sums) for rows in (runs, tests, proposals)]
    cost = sum((entry["cost"] or Decimal(0) for entry in found), Decimal(0))
    return cost, Decimal(sum(entry["tokens"] or 0 for entry in found))
