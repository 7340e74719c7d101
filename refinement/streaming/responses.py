"""The response that streams a run's events to an open page or an API client."""

from typing import cast

from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from refinement.access.projects import ProjectRequest
from refinement.models import Run
from refinement.streaming.hub import Hub, hub
from refinement.streaming.watchers import Watcher

STREAM = "text/event-stream"


NO_CACHING = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # by browsers and proxies


RETRY_AFTER = "30"


LARGEST_NUMBER = 2**63 - 1


def events_streamed(request: ProjectRequest, run: Run, *, session: str, html: bool = False) -> HttpResponse:
    """The run's event stream, open as long as the session or token is valid.

    With `html`, the judge's reply in progress is also sent as HTML, for pages.
    """
    return stream_opened(request, hub, watcher_for(request, run, session, html=html))


def stream_opened(request: ProjectRequest, streams: Hub, watcher: Watcher) -> HttpResponse:
    """The watcher's stream, or a refusal if too many are open."""
    if not can_stream(request) or request.method == "HEAD":
        return HttpResponse(status=204, content_type=STREAM)
    if streams.is_full_for(request.user.pk):
        return refused("You have too many live pages open. Close some of them, then try again.", 429)
    if streams.is_full:
        return refused("Too many live pages are open. Try again later.", 503)
    answer = StreamingHttpResponse(streams.stream(watcher), content_type=STREAM, headers=NO_CACHING)
    if not connection.in_atomic_block:
        # The stream makes no queries, so its connection must not stay open.
        connection.close()
    return cast(HttpResponse, answer)


def refused(message: str, status: int) -> HttpResponse:
    return HttpResponse(
        message, status=status, content_type="text/plain", headers={"Retry-After": RETRY_AFTER}
    )


def can_stream(request: HttpRequest) -> bool:
    """Whether the server is ASGI. A WSGI server would buffer the whole stream."""
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
    """The last event that the client has seen, from the header or the query string."""
    value = request.headers.get("Last-Event-ID", "") or request.GET.get("after", "")
    number = int(value) if value.isascii() and value.isdigit() and len(value) < 20 else 0
    return min(number, LARGEST_NUMBER)
