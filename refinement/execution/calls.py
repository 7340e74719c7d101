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
from refinement.execution.slots import NoFreeSlot, slot_take
from refinement.judging.checks import CommandRunner
from refinement.judging.isolation import while_waiting
from refinement.judging.prompts import Prompt
from refinement.models import Call, Run
from refinement.models.runs.calls import Exchange
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


@dataclass(slots=True)
class Request:
    """A call to a role's model in one step. `seen` and `withheld` say what the prompt shows and hides."""

    role: Role
    round_number: int
    prompt: Prompt
    max_tokens: int
    temperature: float
    schema: Schema | None = None
    context_tokens: int | None = None
    seen: list[str] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LocalResources:
    """Endpoints and scripts that only a run in the foreground may use, on its user's own machine."""

    endpoints: Mapping[str, EndpointSpec] = field(default_factory=dict)
    scripts: Callable[[CallControl], CommandRunner] | None = None


@dataclass(slots=True)
class Caller:
    """Makes a run's calls under its lease."""

    run: Run
    lease: Lease[Run]
    deadline_seconds: float
    on_text: Callable[[str], None] = ignore_text
    local: LocalResources = field(default_factory=LocalResources)
    tokens: int = 0  # used by the step's calls, for the log
    seconds: float = 0.0
    specs: dict[str, EndpointSpec] = field(default_factory=dict)
    repairs: bool = False  # the step repairs a candidate, whose round has calls of the same role already

    def target(self, role: Role) -> tuple[str, str]:
        """The role's endpoint and model."""
        if role is Role.JUDGE:
            return self.run.judge_endpoint, self.run.judge_model
        return self.run.producer_endpoint, self.run.producer_model

    def spec(self, endpoint: str) -> EndpointSpec:
        """The endpoint's settings, read once per step."""
        if endpoint not in self.specs:
            self.specs[endpoint] = self.local.endpoints.get(endpoint) or endpoint_spec(endpoint)
        return self.specs[endpoint]

    def provider(self, role: Role) -> Provider:
        endpoint, _ = self.target(role)
        consumed = None
        spec = self.spec(endpoint)
        if spec.kind == SCRIPTED:
            # Line k of a script for a role answers the run's call k to it, in whatever process.
            consumed = {role.value: Call.objects.filter(run=self.run, role=role.value).count()}
        return build(spec, consumed=consumed, foreground=endpoint in self.local.endpoints)

    def attempt(self, role: Role, round_number: int) -> int:
        """The number of the step's next call."""
        extended = self.run.extended_after and round_number == self.run.extended_after + 1
        if not extended and not self.repairs:
            return self.run.step_calls + 1
        # A run that was cancelled and then continued may have calls for a discarded candidate.
        calls = Call.objects.filter(run=self.run, round_number=round_number, role=role.value)
        last: int | None = calls.aggregate(last=Max("attempt"))["last"]
        return (last or 0) + 1

    def ask(self, request: Request) -> tuple[Call, Reply]:
        """Calls the role's model; returns the reply and its unsaved row.

        Raises CallFailed with the unsaved row of a call without a reply, NoFreeSlot if the endpoint is at its
        limit, Cancelled when the lease is lost or the worker stops, and LeaseLost.
        """
        endpoint, model = self.target(request.role)
        call = Call(
            run=self.run,
            round_number=request.round_number,
            role=request.role.value,
            endpoint=endpoint,
            model=model,
            attempt=self.attempt(request.role, request.round_number),
            messages=[{"role": m.role, "content": storable(m.content)} for m in request.prompt.messages],
            options=options_of(request),
            seen=request.seen,
            withheld=request.withheld,
        )
        self.take_slot(endpoint)
        started, clock = timezone.now(), time.monotonic()
        try:
            with live_text(self.lease, self.on_text) as writing, lease_checks.using(self.lease) as is_held:
                control = self.control(is_held, writing)
                reply = self.provider(request.role).complete(self.completion(model, request), control)
        except ProviderError as error:
            self.seconds += time.monotonic() - clock
            call.error_kind, call.error_message = error.kind.value, storable(error.message)
            set_times(call, started, time.monotonic() - clock)
            raise CallFailed(call, error) from error
        fill(call, reply)
        self.tokens += reply.prompt_tokens + reply.completion_tokens
        self.seconds += time.monotonic() - clock
        set_times(call, started, reply.seconds or time.monotonic() - clock)
        return call, reply

    def completion(self, model: str, request: Request) -> CompletionRequest:
        return CompletionRequest(
            model=model,
            messages=[Message(m.role, m.content) for m in request.prompt.messages],
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            context_tokens=request.context_tokens,
            schema=request.schema,
            role=request.role.value,
        )

    def take_slot(self, endpoint: str) -> None:
        """Takes a slot at the endpoint; raises NoFreeSlot if it is at its concurrency limit."""
        limit = self.spec(endpoint).concurrency
        if limit is not None and not slot_take(self.lease, endpoint, limit):
            raise NoFreeSlot(endpoint)

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
