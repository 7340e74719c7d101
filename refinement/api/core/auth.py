"""Who asks: a project's token, or a person who is signed in; nothing is answered to anybody else."""

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
    """A request of the API: `token` is None where a person is signed in."""

    token: ApiToken | None
    allowance: Allowance | None


class ProjectToken(HttpBearer):
    """`Authorization: Bearer wgm_…`; a token that does not work is refused, whatever the cookies say."""

    openapi_description = "A project's API token, made on its page “API tokens”."

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken:
        try:
            found = token_for(token.strip())
        except TokenRefused:
            raise AuthenticationError from None
        request.allowance = allowance = token_count(found)  # type: ignore[attr-defined]
        if allowance.spent:
            raise Refused(
                429,
                f"This token may make {allowance.limit} requests a minute. "
                f"Try again in {allowance.reset} seconds.",
                code="rate_limited",
            )
        request.user = found.created_by
        request.token = found  # type: ignore[attr-defined]
        means.set(f"token {found.name}")
        return found


class SignedIn(SessionAuth):
    """The session of a browser; whatever changes something needs its CSRF token as well."""

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        request.token = None  # type: ignore[attr-defined]
        return request.user if isinstance(request.user, User) and request.user.is_authenticated else None


AUTH = [ProjectToken(), SignedIn()]
