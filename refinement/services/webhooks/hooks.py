"""Webhooks: create, change, ping and remove them, renew their secret, resend deliveries."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from refinement.execution.deliveries import MAX_TRIES, PURPOSE, delivery_make
from refinement.execution.waking import wake
from refinement.models import (
    DeliveryStatus,
    Project,
    User,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
    WebhookFormat,
)
from refinement.models.system.webhooks import PING
from refinement.selectors.projects.lists import NotFound
from refinement.services.audit import AuditOf
from refinement.services.people.memberships import project_lock, require_owner
from refinement.texts import storable
from refinement.vault import sealed
from refinement.webhooks.addresses import address_problem, destination_problem
from refinement.webhooks.signing import secret_make

MOST_HOOKS = 20  # per project
NOTE_CHARS = 120
FIELDS = ("address", "format", "events", "note", "active")
_record = AuditOf("webhook")


class WebhookChanged(Exception):
    """Another owner saved first. `webhook` has the current values."""

    def __init__(self, webhook: Webhook) -> None:
        super().__init__("the webhook has changed in the meantime")
        self.webhook = webhook


@dataclass(frozen=True, slots=True)
class HookValues:
    """The values that an owner sets."""

    address: str
    events: Sequence[str]
    note: str = ""
    active: bool = True
    format: str = WebhookFormat.WIGGUM.value


def webhook_create(*, project: Project, by: User, values: HookValues) -> tuple[Webhook, str]:
    """Create a webhook; return it with its secret, which is shown once.

    Raises ValidationError, PermissionDenied.
    """
    # The DNS lookup can be slow, so it happens before the transaction.
    return webhook_create_checked(project=project, by=by, checked=values_checked(values))


@transaction.atomic
def webhook_create_checked(*, project: Project, by: User, checked: dict[str, object]) -> tuple[Webhook, str]:
    """Create a webhook from the result of `values_checked`, for callers inside a transaction."""
    project_lock(project)
    require_owner(project, by)
    if Webhook.objects.filter(project=project).count() >= MOST_HOOKS:
        raise ValidationError(f"A project can have {MOST_HOOKS} webhooks. Remove one first.")
    secret = secret_make()
    webhook = Webhook(project=project, created_by=by, sealed_secret=sealed(PURPOSE, secret), **checked)
    webhook.save()
    _record("webhook.create", webhook, by, after=checked)
    return webhook, secret


def webhook_change(*, webhook: Webhook, by: User, values: HookValues, version: int) -> bool:
    """Change the webhook. Return False if nothing changed.

    Raises WebhookChanged, NotFound, ValidationError, PermissionDenied.
    """
    checked = values_checked(values)
    with transaction.atomic():
        fresh = _locked(webhook, by)
        before = {name: getattr(fresh, name) for name in FIELDS}
        if before == checked:
            return False
        if fresh.version != version:
            raise WebhookChanged(fresh)
        for name, value in checked.items():
            setattr(fresh, name, value)
        fresh.version += 1
        fresh.save(update_fields=[*FIELDS, "version"])
        if not fresh.active:
            # Pending deliveries must not be sent when the webhook is enabled again.
            waiting = (DeliveryStatus.QUEUED, DeliveryStatus.WAITING)
            unsent = WebhookDelivery.objects.filter(webhook=fresh, status__in=waiting)
            unsent.update(status=DeliveryStatus.FAILED)
        _record("webhook.change", fresh, by, before=before, after=checked)
    return True


@transaction.atomic
def webhook_secret_renew(*, webhook: Webhook, by: User) -> str:
    """Replace the secret; return the new one, which is shown once. Raises NotFound, PermissionDenied."""
    fresh, secret = _locked(webhook, by), secret_make()
    fresh.sealed_secret = sealed(PURPOSE, secret)
    fresh.version += 1
    fresh.save(update_fields=["sealed_secret", "version"])
    _record("webhook.secret", fresh, by, after={"address": fresh.address})
    return secret


@transaction.atomic
def webhook_remove(*, webhook: Webhook, by: User) -> None:
    """Remove the webhook with its log and pending deliveries. Raises NotFound, PermissionDenied."""
    fresh = _locked(webhook, by)
    _record("webhook.remove", fresh, by, before={name: getattr(fresh, name) for name in FIELDS})
    fresh.delete()


@transaction.atomic
def webhook_ping(*, webhook: Webhook, by: User) -> WebhookDelivery:
    """Send a test message. Raises NotFound, PermissionDenied."""
    fresh = _locked(webhook, by)
    _record("webhook.ping", fresh, by, after={"address": fresh.address})
    return delivery_make(webhook=fresh, event=PING, about={})


@transaction.atomic
def delivery_resend(*, delivery: WebhookDelivery, by: User) -> bool:
    """Send the same payload again. Return False if it is already being sent.

    Raises NotFound, PermissionDenied.
    """
    webhook, now = _locked(delivery.webhook, by), timezone.now()
    rows = WebhookDelivery.objects.select_for_update().filter(pk=delivery.pk)
    row = rows.first()
    if row is None:
        raise NotFound("This delivery is no longer in the log.")
    if row.status in (DeliveryStatus.QUEUED, DeliveryStatus.RUNNING):
        return False
    row.status, row.next_try_at, row.most_tries = DeliveryStatus.QUEUED, None, row.tries + MAX_TRIES
    row.woken_at, row.wakes = now, 0
    row.save(update_fields=["status", "next_try_at", "most_tries", "woken_at", "wakes"])
    _record("webhook.resend", webhook, by, after={"delivery": str(row.key), "event": row.event})
    wake(WebhookDelivery, row.pk)
    return True


def values_checked(values: HookValues) -> dict[str, object]:
    """The values as they are stored. Raises ValidationError with all problems by field."""
    address, note = values.address.strip(), storable(values.note).strip()
    problems: dict[str, str] = {}
    problem = address_problem(address) or destination_problem(address, settings.WEBHOOK_NETWORKS)
    if problem:
        problems["address"] = problem
    events = [event.value for event in WebhookEvent if event.value in values.events]
    if unknown := sorted(set(values.events) - set(events)):
        problems["events"] = f"There is no event named {unknown[0][:40]}."
    elif not events:
        problems["events"] = "Choose at least one event."
    if values.format not in WebhookFormat.values:
        problems["format"] = f"Choose one of {', '.join(WebhookFormat.values)}."
    if len(note) > NOTE_CHARS:
        problems["note"] = f"The note is longer than {NOTE_CHARS} characters."
    if problems:
        raise ValidationError(problems)
    return {
        "address": address,
        "format": values.format,
        "events": events,
        "note": note,
        "active": values.active,
    }


def _locked(webhook: Webhook, by: User) -> Webhook:
    """The current webhook, with the project's members locked. Raises NotFound, PermissionDenied."""
    project = Project.objects.get(pk=webhook.project_id)
    project_lock(project)
    require_owner(project, by)
    fresh = Webhook.objects.select_for_update(of=("self",)).filter(pk=webhook.pk).first()
    if fresh is None:
        raise NotFound("This webhook was removed in the meantime.")
    fresh.project = project
    return fresh
