"""Authentication: a project's token or a signed-in user."""

from typing import Any

from django.http import HttpRequest
from ninja.errors import AuthenticationError
from ninja.security import HttpBearer, SessionAuth

from refinement.access.client_address import means
from refinement.access.projects import ProjectRequest
from refinement.api.core.problems import Refused
from refinement.models import ApiToken, User
from refinement.services.people.tokens import Allowance, TokenRefused, token_count, token_for


class ApiRequest(ProjectRequest):
    """An API request; `token` is None for a signed-in user."""

    token: ApiToken | None
    allowance: Allowance | None


class ProjectToken(HttpBearer):
    """`Authorization: Bearer wgm_…`. An invalid token is rejected even with a valid session cookie."""

    openapi_description = "A project API token, created on the “API tokens” page."

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken:
        try:
            found = token_for(token.strip())
        except TokenRefused:
            raise AuthenticationError from None
        request.allowance = allowance = token_count(found)  # type: ignore[attr-defined]
        if allowance.spent:
            raise Refused(
                429,
                f"Rate limit exceeded: {allowance.limit} requests per minute. Try again in "
                f"{allowance.reset} seconds.",
                code="rate_limited",
            )
        request.user = found.created_by
        request.token = found  # type: ignore[attr-defined]
        means.set(f"token {found.name}")
        return found


class SignedIn(SessionAuth):
    """A browser session; writes also need its CSRF token."""

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        request.token = None  # type: ignore[attr-defined]
        return request.user if isinstance(request.user, User) and request.user.is_authenticated else None


AUTH = [ProjectToken(), SignedIn()]
