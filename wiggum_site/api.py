"""The API at /api/v1; every operation needs authentication."""

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern
from django.views.decorators.http import require_safe

from refinement.api.core.auth import AUTH
from refinement.api.core.openapi import Api, JsonRenderer, grouped
from refinement.api.core.requests import CarefulParser
from refinement.api.routers import ROUTERS

DESCRIPTION = """\
Authenticate with a project's token: `Authorization: Bearer wgm_…`. This page uses your session. Errors are
problem details (RFC 9457). Scores are strings, so they are not rounded. Lists are paginated: pass `next` as
`cursor`.
"""

api = Api(
    title="Wiggum",
    version="1",
    description=DESCRIPTION,
    urls_namespace="api",
    auth=AUTH,
    parser=CarefulParser(),
    renderer=JsonRenderer(),
    openapi_url=None,
    docs_url=None,
)
for prefix, router in ROUTERS:
    api.add_router(prefix, router)


@api.get("/openapi.json", include_in_schema=False, url_name="openapi-json")
def openapi(request: HttpRequest) -> dict[str, Any]:
    """The OpenAPI document."""
    return api.document


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document as an interactive page, from local files."""
    return render(request, "refinement/api/docs.html", {"groups": grouped(api.document)})


def addresses() -> tuple[list[URLPattern], str, str]:
    """The API's addresses: its own auth lets people in, not the pages' sign-in."""
    patterns, application, namespace = api.urls
    for pattern in patterns:
        assert isinstance(pattern, URLPattern)
        login_not_required(pattern.callback)
    return [pattern for pattern in patterns if isinstance(pattern, URLPattern)], application, namespace
