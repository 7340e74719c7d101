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
from refinement.models import DeliveryStatus, Run, Webhook, WebhookAttempt, WebhookDelivery
from refinement.models.leased import WorkStatus
from refinement.models.system.webhooks import PING
from refinement.texts import storable
from refinement.vault import Unreadable, unsealed
from refinement.webhooks.sending import WHOLE_SECONDS, Attempted, post
from refinement.webhooks.signing import signature_header

MOST_TRIES = 7
FIRST_PAUSE = timedelta(seconds=15)  # four times as long after each failure: six hours in all
SPREAD = 0.2  # of a pause, either way, so that deliveries that failed together do not retry together
SENDING_LEASE = timedelta(seconds=WHOLE_SECONDS * 3)
MOST_AT_ONCE = 4  # for one webhook: a slow server must not keep every worker thread busy
KEPT = timedelta(days=30)
CLEAN_AT_ONCE = 500
PURPOSE = "webhook"  # of the key that encrypts secrets
WORKER_LOST = "The worker stopped while it was sending. See its log, then send it again."
UNREADABLE_SECRET = (
    "Its secret was encrypted with another SECRET_KEY. Make a new secret, or ask an administrator to name "
    "the old key in WIGGUM_SECRET_KEY_FALLBACKS."
)


def delivery_make(
    *, webhook: Webhook, event: str, about: Mapping[str, object], run: Run | None = None
) -> WebhookDelivery:
    """Creates a delivery; it is sent once the caller's transaction has committed."""
    now = timezone.now()
    delivery = WebhookDelivery(webhook=webhook, run=run, event=event, most_tries=MOST_TRIES, woken_at=now)
    project = {"slug": webhook.project.slug, "name": webhook.project.name}
    delivery.payload = as_json(
        {"id": str(delivery.key), "event": event, "created_at": now, "project": project, **about}
    )
    delivery.save()
    wake(WebhookDelivery, delivery.pk)
    return delivery


def delivery_send(delivery_id: int) -> None:
    """Sends the delivery, if it is due, no other worker has it and its server is not busy with others."""
    delivery = WebhookDelivery.objects.only("webhook_id").filter(pk=delivery_id).first()
    if delivery is None or being_sent(delivery.webhook_id) >= MOST_AT_ONCE:
        return
    at = timezone.now()
    lease = lease_take(WebhookDelivery, delivery_id, tries=F("tries") + 1, lease_until=at + SENDING_LEASE)
    if lease is None:
        return
    with suppress(LeaseLost):  # the webhook was removed meanwhile
        attempt_record(lease, at, attempt_make(lease.row))
    next_in_line = due_and_free(WebhookDelivery).filter(webhook=delivery.webhook_id).order_by("pk")
    following = next_in_line.values_list("pk", flat=True).first()
    if following is not None:
        wake(WebhookDelivery, following)


def being_sent(webhook_id: int) -> int:
    now = timezone.now()
    return WebhookDelivery.objects.filter(webhook=webhook_id, lease_until__gt=now).count()


def attempt_make(delivery: WebhookDelivery) -> Attempted:
    """One POST. No transaction is open here: the other side may be slow."""
    if delivery.tries > delivery.most_tries:  # the last try was never recorded: its worker was lost
        return Attempted(None, WORKER_LOST, "", 0)
    try:
        secret = unsealed(PURPOSE, delivery.webhook.sealed_secret)
    except Unreadable:
        return Attempted(None, UNREADABLE_SECRET, "", 0)
    body = delivery.payload.encode()
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "Wiggum",
        "Wiggum-Event": delivery.event,
        "Wiggum-Delivery": str(delivery.key),
        "Wiggum-Signature": signature_header(secret, body, int(time.time())),
    }
    return post(delivery.webhook.address, headers=headers, body=body, allowed=settings.WEBHOOK_NETWORKS)


@transaction.atomic
def attempt_record(lease: Lease[WebhookDelivery], at: datetime, attempted: Attempted) -> None:
    """Keeps the attempt and decides what follows; raises LeaseLost."""
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
    """The delivery's fields after the attempt; a retry is scheduled where one is left."""
    if attempted.delivered:
        return {"status": DeliveryStatus.DELIVERED}
    is_active = Webhook.objects.filter(pk=delivery.webhook_id, active=True).exists()
    if delivery.tries >= delivery.most_tries or (delivery.event != PING and not is_active):
        return {"status": DeliveryStatus.FAILED}
    pause = pause_after(MOST_TRIES - (delivery.most_tries - delivery.tries))
    until = timezone.now() + pause
    wake(WebhookDelivery, delivery.pk, delay=pause)
    return {"status": DeliveryStatus.WAITING, "next_try_at": until, "woken_at": until, "wakes": 0}


def pause_after(failures: int) -> timedelta:
    """How long to wait after so many failures."""
    factor: float = 4 ** (failures - 1) * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311  no secret
    return FIRST_PAUSE * factor


def deliveries_clean() -> int:
    """Deletes old deliveries that have ended, a bounded number at a time; returns how many."""
    old = WebhookDelivery.objects.filter(created_at__lt=timezone.now() - KEPT)
    ended = old.exclude(status__in=WorkStatus.values).order_by("created_at")
    numbers = list(ended.values_list("pk", flat=True)[:CLEAN_AT_ONCE])
    if numbers:
        WebhookDelivery.objects.filter(pk__in=numbers).delete()
    return len(numbers)
