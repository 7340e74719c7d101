"""Deliveries of webhooks, sent by workers: rows are the truth, messages are wake-ups."""

import random
import time
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from refinement.execution.waking import SWEEP_AT_MOST, out_of_patience, wake
from refinement.interchange.exports.json import as_json
from refinement.models import DeliveryState, Run, Webhook, WebhookAttempt, WebhookDelivery
from refinement.texts import storable
from refinement.vault import Unreadable, unsealed
from refinement.webhooks.sending import WHOLE_SECONDS, Attempted, post
from refinement.webhooks.signing import signature_header

MOST_TRIES = 7
FIRST_PAUSE = timedelta(seconds=15)  # four times as long after each failure: six hours in all
SPREAD = 0.2  # of a pause, either way: those who failed together do not come back together
LEASE = timedelta(seconds=WHOLE_SECONDS * 3)
MOST_AT_ONCE = 4  # for one webhook: a slow server must not keep all threads of the workers busy
KEPT = timedelta(days=30)
CLEAN_AT_ONCE = 500
PURPOSE = "webhook"  # of the key that keeps secrets
WORKER_LOST = "The worker stopped while it was sending. See its log, then send it again."
UNREADABLE_SECRET = (
    "Its secret was encrypted with another SECRET_KEY. Make a new secret, or ask an administrator to name "
    "the old key in WIGGUM_SECRET_KEY_FALLBACKS."
)


def delivery_make(
    *, webhook: Webhook, event: str, about: Mapping[str, object], run: Run | None = None
) -> WebhookDelivery:
    """A message for this address, sent when the caller's transaction is through."""
    now = timezone.now()
    delivery = WebhookDelivery(
        webhook=webhook, run=run, event=event, most_tries=MOST_TRIES, next_try_at=now, woken_at=now
    )
    project = {"slug": webhook.project.slug, "name": webhook.project.name}
    delivery.payload = as_json(
        {"id": str(delivery.key), "event": event, "created_at": now, "project": project, **about}
    )
    delivery.save()
    delivery_wake(delivery.pk)
    return delivery


def delivery_wake(delivery_id: int, *, delay: timedelta = timedelta()) -> None:
    """Has a worker send it."""
    from refinement.actors import deliver_webhook

    wake(deliver_webhook, delivery_id, delay)


def delivery_send(delivery_id: int) -> None:
    """Sends it, if it is due, nobody else is at it and its server has not enough to do already."""
    delivery = _claimed(delivery_id)
    if delivery is None:
        return
    at = timezone.now()
    _recorded(delivery, at, _attempted(delivery))
    following = due_deliveries().filter(webhook=delivery.webhook_id).values_list("pk", flat=True).first()
    if following is not None:
        delivery_wake(following)


def _claimed(delivery_id: int) -> WebhookDelivery | None:
    row = due_deliveries().select_related("webhook").filter(pk=delivery_id).first()
    now = timezone.now()
    if row is None or _at_work(row.webhook_id, now) >= MOST_AT_ONCE:
        return None
    mine = due_deliveries().filter(pk=delivery_id, tries=row.tries)
    row.tries += 1
    return row if mine.update(tries=row.tries, lease_until=now + LEASE) else None


def _at_work(webhook_id: int, now: datetime) -> int:
    return WebhookDelivery.objects.filter(webhook=webhook_id, lease_until__gt=now).count()


def _attempted(delivery: WebhookDelivery) -> Attempted:
    """No transaction is open here: the other side may take its time."""
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
def _recorded(delivery: WebhookDelivery, at: datetime, attempted: Attempted) -> None:
    """Keeps the attempt and what follows from it; nothing where the webhook is gone, or another is at it."""
    rows = WebhookDelivery.objects.select_for_update().filter(pk=delivery.pk, tries=delivery.tries)
    row = rows.first()
    if row is None:
        return
    WebhookAttempt.objects.create(
        delivery=row,
        number=row.tries,
        at=at,
        status=attempted.status,
        milliseconds=attempted.milliseconds,
        error=storable(attempted.error),
        answer=storable(attempted.answer),
    )
    row.lease_until = None
    if attempted.delivered:
        row.state = DeliveryState.DELIVERED
    elif row.tries >= row.most_tries:
        row.state = DeliveryState.FAILED
    elif row.state == DeliveryState.PENDING:  # an owner may have switched it off meanwhile
        pause = pause_after(MOST_TRIES - (row.most_tries - row.tries))
        row.next_try_at = row.woken_at = timezone.now() + pause
        row.wakes = 0
        delivery_wake(row.pk, delay=pause)
    row.save(update_fields=["lease_until", "state", "next_try_at", "woken_at", "wakes"])


def pause_after(failures: int) -> timedelta:
    """How long to wait after so many failures."""
    factor: float = 4 ** (failures - 1) * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311  no secret
    return FIRST_PAUSE * factor


def due_deliveries() -> QuerySet[WebhookDelivery]:
    """Those to be sent now that nobody is sending."""
    now = timezone.now()
    free = Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    return WebhookDelivery.objects.filter(free, state=DeliveryState.PENDING, next_try_at__lte=now).order_by(
        "pk"
    )


def deliveries_sweep() -> int:
    """Sends again for deliveries whose message must be lost; how many those were."""
    now = timezone.now()
    swept = 0
    lost = due_deliveries().filter(out_of_patience(now)).values_list("pk", "woken_at", "wakes")
    for number, woken_at, wakes in lost[:SWEEP_AT_MOST]:
        with transaction.atomic():
            seen = WebhookDelivery.objects.filter(pk=number, woken_at=woken_at, wakes=wakes)
            if seen.update(woken_at=now, wakes=F("wakes") + 1):
                delivery_wake(number)
                swept += 1
    return swept


def deliveries_clean() -> int:
    """Forgets what is old and done, a part at a time; how many rows that was."""
    old = WebhookDelivery.objects.filter(created_at__lt=timezone.now() - KEPT)
    done = old.exclude(state=DeliveryState.PENDING).order_by("created_at")
    numbers = list(done.values_list("pk", flat=True)[:CLEAN_AT_ONCE])
    if numbers:
        WebhookDelivery.objects.filter(pk__in=numbers).delete()
    return len(numbers)
