"""Headers and error format of all API responses, including Django's own."""

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
    """Turns errors into problem details, adds rate limit headers, and disables caching.

    JSON responses have an `ETag` and support conditional requests. HEAD is GET without the body.
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
    """304 if the client has the current version; an ETag set by an operation is kept."""
    if request.method != "GET" or response.status_code != 200 or not isinstance(response, HttpResponse):
        return response
    if "ETag" not in response.headers:
        if not response.headers.get("Content-Type", "").startswith(JSON):
            return response
        response.headers["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:24]}"'
    if getattr(request, "token", None) is not None:
        # Scripts may keep what they read if they revalidate each time; browsers store nothing.
        response.headers["Cache-Control"] = "private, no-cache"
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if response.headers["ETag"] not in known and "*" not in known:
        return response
    unchanged = HttpResponseNotModified()
    for name in ("Cache-Control", "ETag", "Vary"):
        unchanged.headers[name] = response.headers[name]
    return unchanged


def without_body(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """The response's headers only; a stream is never started."""
    request.method = "HEAD"
    bare = HttpResponse(status=response.status_code)
    bare.headers = response.headers
    if isinstance(response, HttpResponse) and response.status_code != 304:
        bare.headers["Content-Length"] = str(len(response.content))
    bare.cookies = response.cookies
    return bare
