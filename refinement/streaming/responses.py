"""The response that streams a run's events to an open page or an API client."""

from typing import cast

from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from refinement.access.projects import ProjectRequest
from refinement.models import Run
from refinement.streaming.hub import hub
from refinement.streaming.watchers import Watcher

STREAM = "text/event-stream"


NOT_KEPT = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # by browsers, nor held by proxies


RETRY_AFTER = "30"


LARGEST_NUMBER = 2**63 - 1


def events_streamed(request: ProjectRequest, run: Run, *, session: str, html: bool = False) -> HttpResponse:
    """The run's stream for whom the session (or token) stands, as long as it does.

    With `html`, a judge's reply being written also comes as HTML, for pages.
    """
    if not can_stream(request) or request.method == "HEAD":
        return HttpResponse(status=204, content_type=STREAM)
    if hub.is_full_for(request.user.pk):
        return refused("You have too many live pages open. Close some of them, then try again.", 429)
    if hub.is_full:
        return refused("Too many live pages are open. Try again later.", 503)
    answer = StreamingHttpResponse(
        hub.stream(watcher_for(request, run, session, html=html)), content_type=STREAM, headers=NOT_KEPT
    )
    if not connection.in_atomic_block:
        # The stream asks nothing itself, and its connection would otherwise stay open as long as it does.
        connection.close()
    return cast(HttpResponse, answer)


def refused(words: str, status: int) -> HttpResponse:
    return HttpResponse(words, status=status, content_type="text/plain", headers={"Retry-After": RETRY_AFTER})


def can_stream(request: HttpRequest) -> bool:
    """A server of the older kind would collect the whole stream before it sent any of it."""
    return isinstance(request, ASGIRequest)


def watcher_for(request: ProjectRequest, run: Run, session: str, *, html: bool) -> Watcher:
    return Watcher(
        run_id=run.pk,
        user_id=request.user.pk,
        project_id=request.project.pk,
        session=session,
        after=last_seen(request),
        stays=request.GET.get("stay") in ("1", "true"),
        html=html,
    )


def last_seen(request: HttpRequest) -> int:
    """The last event that the page has heard of: told by the browser, or in the address the first time."""
    told = request.headers.get("Last-Event-ID", "") or request.GET.get("after", "")
    number = int(told) if told.isascii() and told.isdigit() and len(told) < 20 else 0
    return min(number, LARGEST_NUMBER)
