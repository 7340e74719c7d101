"""A run's model calls: made under its lease, cancelled with it, and returned with the row to save."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from refinement.broker.interrupting import is_stopping
from refinement.engine.types import Role
from refinement.execution.cancelling import lease_checks
from refinement.execution.leases import RENEW_EVERY, Lease, lease_renew
from refinement.execution.live_text import live_text
from refinement.execution.lost_connections import CONNECTION_LOST
from refinement.execution.slots import NoFreeSlot, slots_take
from refinement.judging.checks import LocalRunner
from refinement.judging.isolation import while_waiting
from refinement.judging.prompts import Prompt
from refinement.models import Call, PanelJudge, Run
from refinement.models.runs.calls import Exchange
from refinement.pricing import cost_of
from refinement.providers.base import (
    CallControl,
    Cancelled,
    CompletionRequest,
    Message,
    Provider,
    ProviderError,
    Reply,
    Schema,
)
from refinement.providers.registry import SCRIPTED, EndpointSpec, build
from refinement.selectors.endpoints import endpoint_spec
from refinement.texts import storable

RENEW_SECONDS = RENEW_EVERY.total_seconds()
SLOW_SECONDS = 1.0


def ignore_text(piece: str) -> None:
    """The default for `on_text`."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whose model is called: a role's, or that of a board's judge by its seat."""

    role: Role
    seat: int = 0


@dataclass(slots=True)
class Request:
    """A call to a speaker's model in one step. `seen` and `withheld` say what the prompt shows and hides."""

    speaker: Speaker
    purpose: str
    round_number: int
    prompt: Prompt
    max_tokens: int
    temperature: float
    schema: Schema | None = None
    context_tokens: int | None = None
    seen: list[str] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """Everything that a call needs, so that making it touches no database."""

    row: Call
    provider: Provider
    request: CompletionRequest


@dataclass(frozen=True, slots=True)
class LocalResources:
    """Endpoints and checks that only a run in the foreground may use, on its user's own machine."""

    endpoints: Mapping[str, EndpointSpec] = field(default_factory=dict)
    checks: Callable[[CallControl], LocalRunner] | None = None


@dataclass(slots=True)
class Caller:
    """Makes a run's calls under its lease."""

    lease: Lease[Run]
    deadline_seconds: float
    on_text: Callable[[str], None] = ignore_text
    local: LocalResources = field(default_factory=LocalResources)
    tokens: int = 0  # used by the step's calls, for the log
    seconds: float = 0.0
    specs: dict[str, EndpointSpec] = field(default_factory=dict)
    seats: dict[int, tuple[str, str]] = field(default_factory=dict)  # targets of the board's judges
    endpoints: set[str] = field(default_factory=set)  # that the step has called
    scripted: dict[str, int] = field(default_factory=dict)  # lines of a script used so far, by role

    @property
    def run(self) -> Run:
        return self.lease.row

    def target(self, speaker: Speaker) -> tuple[str, str]:
        """The speaker's endpoint and model."""
        run = self.run
        if speaker.seat:
            return self.panel()[speaker.seat]
        if speaker.role is Role.CLERK:
            return run.clerk_endpoint or run.judge_endpoint, run.clerk_model or run.judge_model
        if speaker.role is Role.JUDGE:
            return run.judge_endpoint, run.judge_model
        return run.producer_endpoint, run.producer_model

    def panel(self) -> dict[int, tuple[str, str]]:
        """The endpoint and model of each judge of the board, by seat; read once per step."""
        if not self.seats:
            rows = PanelJudge.objects.filter(run_id=self.run.pk).values_list("seat", "endpoint", "model")
            self.seats = {seat: (endpoint, model) for seat, endpoint, model in rows}
        return self.seats

    def speakers(self) -> list[Speaker]:
        """Everyone whose model the run may call."""
        return [*map(Speaker, Role), *(Speaker(Role.JUDGE, seat) for seat in self.panel())]

    def spec(self, endpoint: str) -> EndpointSpec:
        """The endpoint's settings, read once per step."""
        if endpoint not in self.specs:
            self.specs[endpoint] = self.local.endpoints.get(endpoint) or endpoint_spec(endpoint)
        return self.specs[endpoint]

    def provider(self, speaker: Speaker) -> Provider:
        endpoint, _ = self.target(speaker)
        consumed, role = None, speaker.role.value
        spec = self.spec(endpoint)
        if spec.kind == SCRIPTED:
            # Line k of a script for a role answers the run's call k to it, in whatever process. Calls of this
            # step that are not recorded yet count, too: a board makes several at once.
            if role not in self.scripted:
                self.scripted[role] = Call.objects.filter(run=self.run, role=role).count()
            consumed = {role: self.scripted[role]}
        return build(spec, consumed=consumed, foreground=endpoint in self.local.endpoints)

    def attempt(self, speaker: Speaker, round_number: int, purpose: str) -> int:
        """The number of the step's next call for this purpose."""
        extended = self.run.extended_after and round_number == self.run.extended_after + 1
        if not extended and not speaker.seat and speaker.role is not Role.CLERK:
            return self.run.step_calls + 1
        # A board asks several models at once. And a run that was cancelled and then continued may have calls
        # for a discarded candidate.
        calls = Call.objects.filter(
            run=self.run, round_number=round_number, purpose=purpose, seat=speaker.seat
        )
        last: int | None = calls.aggregate(last=Max("attempt"))["last"]
        return (last or 0) + 1

    def call_row(self, speaker: Speaker, round_number: int, purpose: str) -> Call:
        """The unsaved row of the speaker's next call."""
        endpoint, model = self.target(speaker)
        return Call(
            run_id=self.run.pk,
            round_number=round_number,
            role=speaker.role.value,
            purpose=purpose,
            seat=speaker.seat,
            endpoint=endpoint,
            model=model,
            attempt=self.attempt(speaker, round_number, purpose),
            messages=[],
        )

    def prepare(self, request: Request) -> PreparedCall:
        """The call's unsaved row, and what it takes to make the call without the database."""
        row = self.call_row(request.speaker, request.round_number, request.purpose)
        row.messages = [{"role": m.role, "content": storable(m.content)} for m in request.prompt.messages]
        row.options = options_of(request)
        row.seen, row.withheld = request.seen, request.withheld
        row.started_at = timezone.now()
        self.endpoints.add(row.endpoint)
        prepared = PreparedCall(row, self.provider(request.speaker), self.completion(row.model, request))
        if row.role in self.scripted:
            self.scripted[row.role] += 1
        return prepared

    def ask(self, request: Request) -> tuple[Call, Reply]:
        """Calls the speaker's model; returns the reply and its unsaved row.

        Raises CallFailed with the unsaved row of a call without a reply, NoFreeSlot if the endpoint is at its
        limit, Cancelled when the lease is lost or the worker stops, and LeaseLost.
        """
        endpoint, _ = self.target(request.speaker)
        if not self.take_slots({endpoint: 1})[endpoint]:
            raise NoFreeSlot(endpoint)
        prepared = self.prepare(request)
        try:
            with live_text(self.lease, self.on_text) as writing, lease_checks.using(self.lease) as is_held:
                reply = prepared.provider.complete(prepared.request, self.control(is_held, writing))
        except ProviderError as error:
            raise self.failed(prepared, error) from error
        return self.replied(prepared, reply), reply

    def replied(self, prepared: PreparedCall, reply: Reply) -> Call:
        """The call's row, filled in with the reply."""
        row = prepared.row
        fill(row, reply)
        row.cost = cost_of(self.run.prices, row.endpoint, row.model, row.prompt_tokens, row.completion_tokens)
        took = (timezone.now() - row.started_at).total_seconds()
        self.tokens += reply.prompt_tokens + reply.completion_tokens
        self.seconds += took
        set_times(row, row.started_at, reply.seconds or took)
        return row

    def failed(self, prepared: PreparedCall, error: ProviderError) -> "CallFailed":
        """The failure of a call, with its filled-in row."""
        row = prepared.row
        took = (timezone.now() - row.started_at).total_seconds()
        self.seconds += took
        row.error_kind, row.error_message = error.kind.value, storable(error.message)
        set_times(row, row.started_at, took)
        return CallFailed(row, error)

    def completion(self, model: str, request: Request) -> CompletionRequest:
        return CompletionRequest(
            model=model,
            messages=[Message(m.role, m.content) for m in request.prompt.messages],
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            context_tokens=request.context_tokens,
            schema=request.schema,
            role=request.speaker.role.value,
        )

    def take_slots(self, wanted: Mapping[str, int]) -> Mapping[str, int]:
        """How many of the wanted calls each endpoint takes now; they are kept until a step is recorded."""
        limits = {endpoint: self.spec(endpoint).concurrency for endpoint in wanted}
        if not any(limit is not None for limit in limits.values()):
            return wanted
        return slots_take(self.lease, wanted, limits)

    @contextmanager
    def heartbeat(self) -> Iterator[CallControl]:
        """Renews the lease while templates and checks run in the block; raises Cancelled if it is lost."""
        began = time.monotonic()
        with lease_checks.using(self.lease) as is_held:
            control = self.control(is_held, ignore_text)
            with while_waiting(partial(stop_if_cancelled, control)):
                yield control
        if time.monotonic() - began > SLOW_SECONDS:
            lease_renew(self.lease)  # the code that follows needs a lease with most of its time left

    def control(self, is_held: Callable[[], bool], on_text: Callable[[str], None]) -> CallControl:
        return control_of(self.deadline_seconds, is_held, lambda: lease_renew(self.lease), on_text)


def stop_if_cancelled(control: CallControl) -> None:
    if control.is_cancelled():
        raise Cancelled("The step was stopped.")


def control_of(
    deadline_seconds: float,
    is_held: Callable[[], bool],
    renew: Callable[[], bool],
    on_text: Callable[[str], None] = ignore_text,
) -> CallControl:
    """The control of a call that is cancelled when the lease is lost or the worker stops.

    `is_held` returns whether the lease is held, `renew` renews it. Polling the control's `is_cancelled`
    renews the lease in time. A lost database connection does not cancel the call.
    """
    renewed = time.monotonic()
    lost = False

    def is_cancelled() -> bool:
        nonlocal renewed, lost
        if lost or is_stopping():
            return True
        now = time.monotonic()
        try:
            if now - renewed >= RENEW_SECONDS:
                renewed, lost = now, not renew()
            else:
                lost = not is_held()
        except CONNECTION_LOST:
            connection.close()  # the reply is worth more than this check, which is repeated soon
        return lost

    return CallControl(deadline_seconds, is_cancelled, on_text)


class CallFailed(Exception):
    """A call without a reply: its unsaved row and the provider's error."""

    def __init__(self, call: Call, error: ProviderError) -> None:
        super().__init__(error.message)
        self.call = call
        self.error = error


def options_of(request: Request | CompletionRequest) -> dict[str, object]:
    return {
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "context_tokens": request.context_tokens,
        "schema": request.schema,
    }


def fill(call: Exchange, reply: Reply) -> None:
    """Copies the reply into the call's row."""
    call.reply = storable(reply.text)
    call.thinking = storable(reply.thinking)
    call.finish_reason = reply.finish_reason
    call.prompt_tokens = reply.prompt_tokens
    call.completion_tokens = reply.completion_tokens
    call.cached_tokens = reply.cached_tokens
    call.timings = dict(reply.timings)
    call.options["schema_used"] = reply.schema_used


def set_times(call: Call, started: datetime, seconds: float) -> None:
    call.started_at = started
    call.finished_at = timezone.now()
    call.seconds = round(seconds, 3)
