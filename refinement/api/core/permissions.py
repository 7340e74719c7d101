"""The door of every operation of a project: the same as of its pages, and the token's role besides."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal

from ninja.params.functions import Path
from ninja.utils import contribute_operation_args

from refinement.access.projects import project_access
from refinement.api.core.auth import ApiRequest
from refinement.api.core.requests import is_kept
from refinement.models import MemberRole, Membership
from refinement.selectors.projects.lists import NotFound, lower_role, membership_for

View = Callable[..., Any]
SLUG = Path(..., description="The project's name as in its addresses.", max_length=60)


def member(role: Literal["viewer", "editor", "owner"] = "viewer") -> Callable[[View], View]:
    """Lets members with this role or a higher one in; the operation's address has `{slug}` in it.

    The operation gets an `ApiRequest` with `project` and `membership`, whose role is the lower one of the
    person's and the token's. The rule is told in the OpenAPI document as `x-role`.
    """
    least = MemberRole(role)

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: ApiRequest, slug: str, **values: Any) -> Any:
            if not is_kept([slug, *values.values()]):
                raise NotFound("There is nothing at this address.")
            with project_access(request, membership_of(request, slug), least):
                return view(request, **values)

        contribute_operation_args(guarded, "slug", str, SLUG)
        guarded.role = role  # type: ignore[attr-defined]
        return guarded

    return decorate


def membership_of(request: ApiRequest, slug: str) -> Membership:
    """The person's membership; with a token, in its project alone."""
    membership = membership_for(request.user, slug)
    if request.token is not None and request.token.project_id != membership.project_id:
        raise NotFound("There is no project at this address, or the token is another project’s.")
    return limited(request, membership)


def limited(request: ApiRequest, membership: Membership) -> Membership:
    """With no more than the token's role; the row itself stays as it is."""
    if request.token is not None:
        membership.role = lower_role(membership.role, request.token.role)
    return membership
