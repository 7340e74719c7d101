"""Webhook deliveries, sent by workers under a lease, with retries."""

import random
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from refinement.execution.leases import Lease, LeaseLost, due_and_free, lease_release, lease_take
from refinement.execution.waking import wake
from refinement.interchange.exports.json import as_json
from refinement.models import DeliveryStatus, Run, Webhook, WebhookAttempt, WebhookDelivery, WebhookFormat
from refinement.models.leased import WorkStatus
from refinement.models.system.webhooks import PING
from refinement.texts import storable
from refinement.vault import Unreadable, unsealed
from refinement.webhooks.formats import body_of
from refinement.webhooks.sending import WHOLE_SECONDS, Attempted, post
from refinement.webhooks.signing import signature_header

MAX_TRIES = 7
FIRST_PAUSE = timedelta(seconds=15)  # four times as long after each failure, about six hours in total
SPREAD = 0.2  # of a pause, either way: deliveries that failed together must not retry together
SENDING_LEASE = timedelta(seconds=WHOLE_SECONDS * 3)
MAX_AT_ONCE = 4  # for one webhook: a slow server must not keep every worker thread busy
RETENTION = timedelta(days=30)
CLEAN_AT_ONCE = 500
PURPOSE = "webhook"  # of the key that encrypts secrets
WORKER_LOST = "The worker stopped while sending. Check its log, then resend the delivery."
UNREADABLE_SECRET = (
    "Its secret was encrypted with another SECRET_KEY. Create a new secret, or ask an administrator to add "
    "the old key to WIGGUM_SECRET_KEY_FALLBACKS."
)


def delivery_make(
    *, webhook: Webhook, event: str, about: Mapping[str, object], run: Run | None = None
) -> WebhookDelivery:
    """Creates a delivery, and sends it after the caller's transaction has committed.

    `about` is added to the payload next to the delivery's id, event, time and project.
    """
    now = timezone.now()
    delivery = WebhookDelivery(webhook=webhook, run=run, event=event, most_tries=MAX_TRIES, woken_at=now)
    project = {"slug": webhook.project.slug, "name": webhook.project.name}
    payload = {"id": str(delivery.key), "event": event, "created_at": now, "project": project, **about}
    delivery.payload = as_json(body_of(webhook.format, payload))
    delivery.save()
    wake(WebhookDelivery, delivery.pk)
    return delivery


def delivery_send(delivery_id: int) -> None:
    """Sends the delivery, if it is due, no worker holds it and its webhook is below its limit.

    Failures are recorded and retried; after the last try, the delivery has failed.
    """
    delivery = WebhookDelivery.objects.only("webhook_id").filter(pk=delivery_id).first()
    if delivery is None or sends_in_progress(delivery.webhook_id) >= MAX_AT_ONCE:
        return
    at = timezone.now()
    lease = lease_take(WebhookDelivery, delivery_id, tries=F("tries") + 1, lease_until=at + SENDING_LEASE)
    if lease is None:
        return
    with suppress(LeaseLost):  # the webhook was deleted in the meantime
        attempt_record(lease, at, attempt_send(lease.row))
    waiting = due_and_free(WebhookDelivery).filter(webhook=delivery.webhook_id).order_by("pk")
    next_delivery = waiting.values_list("pk", flat=True).first()
    if next_delivery is not None:
        wake(WebhookDelivery, next_delivery)


def sends_in_progress(webhook_id: int) -> int:
    now = timezone.now()
    return WebhookDelivery.objects.filter(webhook=webhook_id, lease_until__gt=now).count()


def attempt_send(delivery: WebhookDelivery) -> Attempted:
    """Sends one POST. No transaction is open here: the receiver may be slow."""
    if delivery.tries > delivery.most_tries:  # the last try was never recorded: its worker was lost
        return Attempted(None, WORKER_LOST, "", 0)
    body = delivery.payload.encode()
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Wiggum"}
    if delivery.webhook.format == WebhookFormat.WIGGUM:
        try:
            headers |= signed_headers(delivery, body)
        except Unreadable:
            return Attempted(None, UNREADABLE_SECRET, "", 0)
    return post(delivery.webhook.address, headers=headers, body=body, allowed=settings.WEBHOOK_NETWORKS)


def signed_headers(delivery: WebhookDelivery, body: bytes) -> dict[str, str]:
    """The headers that tell receivers of our own format who sent it. Raises Unreadable."""
    secret = unsealed(PURPOSE, delivery.webhook.sealed_secret)
    return {
        "Wiggum-Event": delivery.event,
        "Wiggum-Delivery": str(delivery.key),
        "Wiggum-Signature": signature_header(secret, body, int(time.time())),
    }


@transaction.atomic
def attempt_record(lease: Lease[WebhookDelivery], at: datetime, attempted: Attempted) -> None:
    """Saves the attempt and schedules a retry or ends the delivery; raises LeaseLost."""
    delivery = lease.row
    lease_release(lease, **outcome_of(delivery, attempted))
    WebhookAttempt.objects.create(
        delivery=delivery,
        number=delivery.tries,
        at=at,
        status=attempted.status,
        milliseconds=attempted.milliseconds,
        error=storable(attempted.error),
        answer=storable(attempted.answer),
    )


def outcome_of(delivery: WebhookDelivery, attempted: Attempted) -> dict[str, Any]:
    """The delivery's fields after the attempt; schedules a retry if one is left."""
    if attempted.delivered:
        return {"status": DeliveryStatus.DELIVERED}
    is_active = Webhook.objects.filter(pk=delivery.webhook_id, active=True).exists()
    if delivery.tries >= delivery.most_tries or (delivery.event != PING and not is_active):
        return {"status": DeliveryStatus.FAILED}
    pause = pause_after(MAX_TRIES - (delivery.most_tries - delivery.tries))
    until = timezone.now() + pause
    wake(WebhookDelivery, delivery.pk, delay=pause)
    return {"status": DeliveryStatus.WAITING, "next_try_at": until, "woken_at": until, "wakes": 0}


def pause_after(failures: int) -> timedelta:
    """How long to wait after this many failures."""
    factor: float = 4 ** (failures - 1) * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311  no secret
    return FIRST_PAUSE * factor


def deliveries_clean() -> int:
    """Deletes old deliveries that have ended, up to CLEAN_AT_ONCE of them; returns how many."""
    old = WebhookDelivery.objects.filter(created_at__lt=timezone.now() - RETENTION)
    ended = old.exclude(status__in=WorkStatus.values).order_by("created_at")
    numbers = list(ended.values_list("pk", flat=True)[:CLEAN_AT_ONCE])
    if numbers:
        WebhookDelivery.objects.filter(pk__in=numbers).delete()
    return len(numbers)
