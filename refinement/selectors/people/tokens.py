"""API tokens for the settings page."""

from collections.abc import Sequence
from dataclasses import dataclass

from refinement.models import ApiToken, Membership
from refinement.selectors.projects.lists import lower_role

MOST_LISTED = 200


@dataclass(frozen=True, slots=True)
class ListedToken:
    """A token and its effective role. `lowered`: its creator's role is lower than the token's."""

    token: ApiToken
    state: str
    role: str
    lowered: bool


def tokens_for(membership: Membership) -> Sequence[ListedToken]:
    """All tokens for owners, one's own for others. Active ones first, then newest first."""
    rows = ApiToken.objects.filter(project=membership.project).select_related("created_by")
    if not membership.is_owner:
        rows = rows.filter(created_by=membership.user)
    found = list(rows.order_by("-id")[:MOST_LISTED])
    makers = Membership.objects.filter(
        project=membership.project, user__in={row.created_by_id for row in found}
    )
    roles = dict(makers.values_list("user_id", "role"))
    listed = [_listed(row, roles.get(row.created_by_id)) for row in found]
    return sorted(listed, key=lambda entry: entry.state != "open")


def _listed(token: ApiToken, makers_role: str | None) -> ListedToken:
    role = lower_role(token.role, makers_role or token.role)
    return ListedToken(token, token.state, role.label, lowered=role != token.role)
