"""Model calls and events of a run, and the event stream."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse
from ninja import Field, Query, Router, Schema

from refinement.access.objects import run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.runs.shapes import exact
from refinement.models import Call, Event
from refinement.selectors.runs.calls import calls_of
from refinement.streaming.responses import events_streamed

EXACT = ("seconds", "cost")
router = Router(tags=["Calls and events"])
LARGEST_NUMBER = 2**31 - 1
STREAM = {
    "responses": {
        200: {
            "description": "Server-sent events: `event` (something happened), `state` (the run's "
            "status), `text` (what a model is writing), `done` (the run ended).",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        204: {"description": "This server cannot stream. Use the list of events instead."},
        429: {"description": "You have too many open streams."},
        503: {"description": "Too many open streams."},
    }
}


class CallLine(Schema):
    """A call without its texts."""

    id: int
    round_number: int
    role: str = Field(description="producer, judge or clerk.", examples=["judge"])
    purpose: str = Field(
        description="draft, revise, repair, score, deliberate, compose, merge or describe.",
        examples=["score"],
    )
    seat: int = Field(description="The judge's seat on a board, from 1; otherwise 0.")
    attempt: int
    endpoint: str
    model: str
    started_at: datetime
    finished_at: datetime
    seconds: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None
    cost: str | None = Field(description="In the instance's currency; null if the model has no price.")
    rung: str = Field(description="How the reply was parsed.")
    complaint: str = Field(description="What was wrong with the reply.")
    error_kind: str
    error_message: str
    seen: list[str] = Field(description="The kinds of information in its messages.")
    withheld: list[str]


class CallWhole(CallLine):
    """A call with its exact messages and reply."""

    messages: list[dict[str, Any]]
    options: dict[str, Any]
    reply: str
    thinking: str
    timings: dict[str, Any]


class EventShape(Schema):
    """An event of a run."""

    id: int
    kind: str = Field(examples=["judged"])
    at: datetime
    actor: str
    data: dict[str, Any]


class CallQuery(Paging):
    """A page of calls, optionally of one round."""

    round: int | None = Field(None, ge=1, le=LARGEST_NUMBER)


class Since(Schema):
    """Where a stream starts."""

    after: int = Field(0, ge=0, le=2**53, description="The last event you received.")
    stay: bool = Field(
        False, description="Keep the stream open after the run ends, because people may continue it."
    )


@router.get("/{int:run}/calls", response=Page[CallLine])
@member()
def call_list(request: ApiRequest, run: int, query: Query[CallQuery]) -> Page[CallLine]:
    """List a run's model calls. In order, without their texts."""
    found = run_or_404(request, run, whole=False)
    shown, following = page_by_number(calls_of(found, query.round), query, newest_first=False)
    return Page[CallLine].of([CallLine(**values(row, CallLine)) for row in shown], following)


@router.get("/{int:run}/calls/{int:call}", response=CallWhole)
@member()
def call_read(request: ApiRequest, run: int, call: int) -> CallWhole:
    """Get a model call with its messages, options and reply."""
    found = run_or_404(request, run, whole=False)
    row = Call.objects.filter(run=found, pk=call).first()
    if row is None:
        raise Http404("Call not found in this run.")
    return CallWhole(**values(row, CallWhole))


@router.get("/{int:run}/events", response=Page[EventShape])
@member()
def event_list(request: ApiRequest, run: int, paging: Query[Paging]) -> Page[EventShape]:
    """List a run's events. In order."""
    found = run_or_404(request, run, whole=False)
    shown, following = page_by_number(Event.objects.filter(run=found), paging, newest_first=False)
    items = [EventShape(id=row.pk, kind=row.kind, at=row.at, actor=row.actor, data=row.data) for row in shown]
    return Page[EventShape].of(items, following)


@router.get("/{int:run}/stream", openapi_extra=STREAM)
@member()
def event_stream(request: ApiRequest, run: int, since: Query[Since]) -> HttpResponse:
    """Stream a run's events until it ends.

    After losing the connection, send `Last-Event-ID` or `after` to get missed events.
    """
    return events_streamed(request, run_or_404(request, run, whole=False), session=reader_of(request))


def reader_of(request: ApiRequest) -> str:
    """The session or token that the stream depends on."""
    return f"token:{request.token.pk}" if request.token else request.session.session_key or ""


def values(row: Call, shape: type[Schema]) -> dict[str, Any]:
    plain = {name: getattr(row, name) for name in shape.model_fields if name not in ("id", *EXACT)}
    return plain | {"id": row.pk, **{name: exact(getattr(row, name)) for name in EXACT}}
