"""Webhooks and their delivery logs."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from ninja import Field, Query, Router, Schema, Status

from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, changed_meanwhile, etag, require_match, tagged
from refinement.api.core.idempotency import creates, made_at
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.models import (
    DeliveryStatus,
    Webhook,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEvent,
    WebhookFormat,
)
from refinement.selectors.webhooks import deliveries_of, delivery_of, webhook_of, webhooks_of
from refinement.services.webhooks.hooks import (
    HookValues,
    WebhookChanged,
    delivery_resend,
    values_checked,
    webhook_change,
    webhook_create_checked,
    webhook_ping,
    webhook_remove,
    webhook_secret_renew,
)
from refinement.webhooks.addresses import MOST_CHARS

router = Router(tags=["Webhooks"])
EVENTS = ", ".join(WebhookEvent.values)
FORMATS = ", ".join(WebhookFormat.values)
ADDRESS = Field(
    max_length=MOST_CHARS,
    description="A public http or https URL without a user name.",
    examples=["https://example.org/wiggum"],
)


class WebhookNew(Schema):
    """A new webhook."""

    address: str = ADDRESS
    events: list[str] = Field(max_length=20, description=f"Any of {EVENTS}.", examples=[["run.finished"]])
    note: str = Field("", max_length=240)
    active: bool = True
    format: str = Field("wiggum", max_length=10, description=f"One of {FORMATS}.")


class WebhookEdit(Schema):
    """Fields to change; omitted fields stay."""

    address: str | None = Field(None, max_length=MOST_CHARS)
    events: list[str] | None = Field(None, max_length=20)
    note: str | None = Field(None, max_length=240)
    active: bool | None = None
    format: str | None = Field(None, max_length=10)


class WebhookShape(Schema):
    """A webhook, without its secret."""

    id: int
    address: str
    events: list[str]
    note: str
    active: bool
    format: str
    created_by: str | None
    created_at: datetime


class WebhookMade(WebhookShape):
    """A webhook with its secret, returned once; null in a repeated response, and for chats."""

    secret: str | None


class Secret(Schema):
    """A webhook's new secret, returned once."""

    secret: str


class DeliveryLine(Schema):
    """A delivery in the log."""

    id: int
    delivery: UUID = Field(description="As in the Wiggum-Delivery header.")
    event: str
    run: int | None
    status: str = Field(description=f"One of {', '.join(DeliveryStatus.values)}.")
    tries: int
    created_at: datetime
    next_try_at: datetime | None = Field(description="Null if there is no further attempt.")


class Attempt(Schema):
    """An attempt to deliver."""

    number: int
    at: datetime
    status: int | None = Field(description="Of the response; null if there was none.")
    milliseconds: int
    error: str
    answer: str = Field(description="The start of the response.")


class DeliveryShape(DeliveryLine):
    """A delivery with its payload and attempts."""

    payload: dict[str, Any]
    attempts: list[Attempt]


class DeliveryQuery(Paging):
    """Filters of deliveries."""

    status: str = Field("", max_length=20, examples=["failed"])


@router.get("", response=Page[WebhookShape])
@member("owner")
def webhook_list(request: ApiRequest, paging: Query[Paging]) -> Page[WebhookShape]:
    """List webhooks."""
    found, following = page_by_number(webhooks_of(request.project), paging, newest_first=False)
    return Page[WebhookShape](items=[hook_shape(row) for row in found], next=following)


def resolve_host(request: ApiRequest, body: WebhookNew) -> None:
    """Resolves the host before the transaction, because DNS can be slow."""
    request.checked_hook = values_checked(HookValues(**body.model_dump()))  # type: ignore[attr-defined]


@router.post("", response={201: WebhookMade})
@member("owner")
@creates(shown_once="secret", before=resolve_host)
def webhook_new(request: ApiRequest, body: WebhookNew) -> WebhookMade:
    """Create a webhook. Its secret is returned once.

    See docs/webhooks.md on verifying signatures.
    """
    kept: dict[str, object] = request.checked_hook  # type: ignore[attr-defined]
    hook, secret = webhook_create_checked(project=request.project, by=request.user, checked=kept)
    made_at(request, hook_address(request, hook), hook_tag(hook))
    shown = secret if hook.format == WebhookFormat.WIGGUM else None
    return WebhookMade(**hook_shape(hook).model_dump(), secret=shown)


@router.get("/{int:webhook}", response=WebhookShape)
@member("owner")
def webhook_read(request: ApiRequest, response: HttpResponse, webhook: int) -> WebhookShape:
    """Get a webhook. Returns an `ETag`."""
    found = webhook_of(request.project, webhook)
    tagged(response, hook_tag(found))
    return hook_shape(found)


@router.patch("/{int:webhook}", response=WebhookShape)
@member("owner")
def webhook_changed(
    request: ApiRequest, response: HttpResponse, webhook: int, body: WebhookEdit, if_match: str = IF_MATCH
) -> WebhookShape:
    """Change a webhook. Requires the `ETag` you read.

    If disabled, nothing is sent, and pending deliveries are discarded.
    """
    found = webhook_of(request.project, webhook)
    require_match(request, hook_tag(found))
    now = HookValues(found.address, found.events, found.note, found.active, found.format)
    given = body.model_dump(exclude_none=True)
    values = HookValues(**{name: given.get(name, getattr(now, name)) for name in now.__slots__})
    try:
        webhook_change(webhook=found, by=request.user, values=values, version=found.version)
    except WebhookChanged as changed:
        raise changed_meanwhile(hook_tag(changed.webhook)) from None
    found = webhook_of(request.project, webhook)
    tagged(response, hook_tag(found))
    return hook_shape(found)


@router.delete("/{int:webhook}", response={204: None})
@member("owner")
def webhook_removed(request: ApiRequest, webhook: int) -> Status[None]:
    """Delete a webhook and its log."""
    webhook_remove(webhook=webhook_of(request.project, webhook), by=request.user)
    return Status(204, None)


@router.post("/{int:webhook}/secret", response=Secret)
@member("owner")
def webhook_secret(request: ApiRequest, webhook: int) -> Secret:
    """Rotate a webhook's secret. The old one stops working immediately."""
    found = webhook_of(request.project, webhook)
    return Secret(secret=webhook_secret_renew(webhook=found, by=request.user))


@router.post("/{int:webhook}/ping", response={201: DeliveryLine})
@member("owner")
@creates()
def webhook_pinged(request: ApiRequest, webhook: int) -> DeliveryLine:
    """Send a test event."""
    found = webhook_of(request.project, webhook)
    delivery = webhook_ping(webhook=found, by=request.user)
    made_at(request, delivery_address(request, delivery))
    return delivery_line(delivery)


@router.get("/{int:webhook}/deliveries", response=Page[DeliveryLine])
@member("owner")
def delivery_list(request: ApiRequest, webhook: int, query: Query[DeliveryQuery]) -> Page[DeliveryLine]:
    """List a webhook's deliveries of the last 30 days. Newest first."""
    rows = deliveries_of(webhook_of(request.project, webhook))
    if query.status:
        rows = rows.filter(status=query.status)
    found, following = page_by_number(rows, query)
    return Page[DeliveryLine](items=[delivery_line(row) for row in found], next=following)


@router.get("/{int:webhook}/deliveries/{int:delivery}", response=DeliveryShape)
@member("owner")
def delivery_read(request: ApiRequest, webhook: int, delivery: int) -> DeliveryShape:
    """Get a delivery with its payload and attempts."""
    found = delivery_of(webhook_of(request.project, webhook), delivery)
    return DeliveryShape(
        **delivery_line(found).model_dump(),
        payload=json.loads(found.payload),
        attempts=[attempt_shape(row) for row in found.attempts.all()],
    )


@router.post("/{int:webhook}/deliveries/{int:delivery}/resend", response=DeliveryLine)
@member("owner")
def delivery_resent(request: ApiRequest, webhook: int, delivery: int) -> DeliveryLine:
    """Resend a delivery with the same ID. 409 if it is being sent."""
    hook = webhook_of(request.project, webhook)
    found = delivery_of(hook, delivery)
    if not delivery_resend(delivery=found, by=request.user):
        raise Refused(409, "It is already being sent.", "under_way")
    return delivery_line(delivery_of(hook, delivery))


def hook_shape(hook: Webhook) -> WebhookShape:
    return WebhookShape(
        id=hook.pk,
        address=hook.address,
        events=hook.events,
        note=hook.note,
        active=hook.active,
        format=hook.format,
        created_by=hook.created_by.display_name if hook.created_by else None,
        created_at=hook.created_at,
    )


def hook_tag(hook: Webhook) -> str:
    return etag("webhook", hook.pk, hook.version)


def hook_address(request: ApiRequest, hook: Webhook) -> str:
    return reverse("api:webhook_read", kwargs={"slug": request.project.slug, "webhook": hook.pk})


def delivery_line(row: WebhookDelivery) -> DeliveryLine:
    return DeliveryLine(
        id=row.pk,
        delivery=row.key,
        event=row.event,
        run=row.run_id,
        status=row.status,
        tries=row.tries,
        created_at=row.created_at,
        next_try_at=row.next_try_at if row.status == DeliveryStatus.WAITING else None,
    )


def delivery_address(request: ApiRequest, row: WebhookDelivery) -> str:
    values = {"slug": request.project.slug, "webhook": row.webhook_id, "delivery": row.pk}
    return reverse("api:delivery_read", kwargs=values)


def attempt_shape(row: WebhookAttempt) -> Attempt:
    return Attempt(
        number=row.number,
        at=row.at,
        status=row.status,
        milliseconds=row.milliseconds,
        error=row.error,
        answer=row.answer,
    )
