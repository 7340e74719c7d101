"""What every answer of the API carries, whoever made it: Ninja, an operation, or Django itself."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin

from refinement.api.problems import MEDIA_TYPE, problem
from refinement.services.tokens import Allowance

PREFIX = "/api/"


class AnswersMiddleware(MiddlewareMixin):
    """Errors are problem details, also those of Django; a token's allowance is told; nothing is cached."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not request.path.startswith(PREFIX):
            return response
        if response.status_code >= 400 and response.headers.get("Content-Type") != MEDIA_TYPE:
            kept = {name: response.headers[name] for name in ("Allow",) if name in response.headers}
            response = problem(response.status_code, headers=kept)
        allowance: Allowance | None = getattr(request, "allowance", None)
        if allowance is not None:
            response.headers["RateLimit-Limit"] = str(allowance.limit)
            response.headers["RateLimit-Remaining"] = str(allowance.remaining)
            response.headers["RateLimit-Reset"] = str(allowance.reset)
            if allowance.spent:
                response.headers["Retry-After"] = str(allowance.reset)
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Cache-Control", "private, no-store")
            patch_vary_headers(response, ["Authorization", "Cookie"])
        return response
