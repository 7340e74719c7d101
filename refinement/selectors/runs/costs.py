"""What a run cost, by role."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Sum

from refinement.models import Call, Run

ROLES = {"producer": "Writer", "judge": "Judges", "clerk": "Clerk"}


@dataclass(frozen=True, slots=True)
class RoleCost:
    """One role's part of a run. `cost` is None if none of its calls has a price."""

    role: str
    label: str
    calls: int
    tokens: int
    cost: Decimal | None


def role_costs(run: Run) -> list[RoleCost]:
    """The run's usage by role: writer, judges, clerk. Roles without calls are left out. One query."""
    rows = (
        Call.objects.filter(run=run)
        .order_by()
        .values("role")
        .annotate(
            calls=Count("pk"), sent=Sum("prompt_tokens"), received=Sum("completion_tokens"), money=Sum("cost")
        )
    )
    found = {row["role"]: row for row in rows}
    return [
        RoleCost(role, label, row["calls"], row["sent"] + row["received"], row["money"])
        for role, label in ROLES.items()
        if (row := found.get(role))
    ]
