"""Access checks of project operations: membership, as on the pages, and the token's role."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal

from ninja.params.functions import Path
from ninja.utils import contribute_operation_args

from refinement.access.projects import project_access
from refinement.api.core.auth import ApiRequest
from refinement.api.core.requests import is_storable
from refinement.models import MemberRole, Membership
from refinement.selectors.projects.lists import NotFound, lower_role, membership_for

View = Callable[..., Any]
SLUG = Path(..., description="The project's slug.", max_length=60)


def member(role: Literal["viewer", "editor", "owner"] = "viewer") -> Callable[[View], View]:
    """Allows members with at least this role; the operation's path must contain `{slug}`.

    The operation gets an `ApiRequest` with `project` and `membership`, whose role is the lower of the
    user's and the token's. The OpenAPI document shows the role as `x-role`.
    """
    least = MemberRole(role)

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: ApiRequest, slug: str, **values: Any) -> Any:
            if not is_storable([slug, *values.values()]):
                raise NotFound("Page not found.")
            with project_access(request, membership_of(request, slug), least):
                return view(request, **values)

        contribute_operation_args(guarded, "slug", str, SLUG)
        guarded.role = role  # type: ignore[attr-defined]
        return guarded

    return decorate


def membership_of(request: ApiRequest, slug: str) -> Membership:
    """The user's membership; with a token, in its project only."""
    membership = membership_for(request.user, slug)
    if request.token is not None and request.token.project_id != membership.project_id:
        raise NotFound("Project not found, or the token belongs to another project.")
    return limited(request, membership)


def limited(request: ApiRequest, membership: Membership) -> Membership:
    """The membership with at most the token's role; the row is not changed."""
    if request.token is not None:
        membership.role = lower_role(membership.role, request.token.role)
    return membership
