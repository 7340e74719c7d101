"""What every answer of the API carries, whoever made it: Ninja, an operation, or Django itself."""

import hashlib

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import parse_etags

from refinement.api.core.problems import MEDIA_TYPE, problem
from refinement.services.people.tokens import Allowance

PREFIX = "/api/"
JSON = "application/json"


class AnswersMiddleware(MiddlewareMixin):
    """Errors are problem details, also those of Django; a token's allowance is told; nothing is cached.

    What is read as JSON has an `ETag`, and is not sent again to who has it. HEAD is GET without the body.
    """

    def process_request(self, request: HttpRequest) -> None:
        if request.method == "HEAD" and request.path.startswith(PREFIX):
            request.method, request.is_head = "GET", True  # type: ignore[attr-defined]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not request.path.startswith(PREFIX):
            return response
        if response.status_code >= 400 and response.headers.get("Content-Type") != MEDIA_TYPE:
            kept = {
                name: response.headers[name] for name in ("Allow", "Retry-After") if name in response.headers
            }
            response = problem(response.status_code, headers=kept)
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Cache-Control", "private, no-store")
            patch_vary_headers(response, ["Authorization", "Cookie"])
        response = conditional(request, response)
        allowance: Allowance | None = getattr(request, "allowance", None)
        if allowance is not None:
            response.headers["RateLimit-Limit"] = str(allowance.limit)
            response.headers["RateLimit-Remaining"] = str(allowance.remaining)
            response.headers["RateLimit-Reset"] = str(allowance.reset)
            if allowance.spent:
                response.headers["Retry-After"] = str(allowance.reset)
        return without_body(request, response) if hasattr(request, "is_head") else response


def conditional(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """304 to who has what would be sent; an answer that an operation tagged keeps its tag."""
    if request.method != "GET" or response.status_code != 200 or not isinstance(response, HttpResponse):
        return response
    if "ETag" not in response.headers:
        if not response.headers.get("Content-Type", "").startswith(JSON):
            return response
        response.headers["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:24]}"'
    if getattr(request, "token", None) is not None:
        # A script may keep what it read, as long as it asks each time; a browser keeps nothing.
        response.headers["Cache-Control"] = "private, no-cache"
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if response.headers["ETag"] not in known and "*" not in known:
        return response
    unchanged = HttpResponseNotModified()
    for name in ("Cache-Control", "ETag", "Vary"):
        unchanged.headers[name] = response.headers[name]
    return unchanged


def without_body(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """The head of the answer alone; what would have been streamed is never begun."""
    request.method = "HEAD"
    bare = HttpResponse(status=response.status_code)
    bare.headers = response.headers
    if isinstance(response, HttpResponse) and response.status_code != 304:
        bare.headers["Content-Length"] = str(len(response.content))
    bare.cookies = response.cookies
    return bare
