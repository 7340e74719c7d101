"""Idempotency keys: a creating request that is sent twice with one key has one effect and one response.

The key is claimed in a separate transaction, so that a second request sees it at once. The created rows and
the stored response are then written in one transaction. If a process dies in between, the key can be claimed
again after a minute, and the attempt number keeps a slow first process from writing.
"""

from collections.abc import Mapping
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from refinement.models import IdempotencyKey

LEASE = timedelta(seconds=60)
KEPT = timedelta(hours=24)


class KeyInFlight(Exception):
    """A request with this key is being processed."""


class KeyReused(Exception):
    """The key was used for a different request."""


def key_take(*, sender: str, key: str, fingerprint: str) -> IdempotencyKey:
    """Claim the key, or return it with the stored response (`status` is set).

    Raises KeyInFlight, KeyReused.
    """
    fresh = IdempotencyKey(sender=sender, key=key, fingerprint=fingerprint)
    try:
        with transaction.atomic():
            fresh.save(force_insert=True)
    except IntegrityError:
        existing = IdempotencyKey.objects.filter(sender=sender, key=key).first()
    else:
        return fresh
    if existing is None:
        raise KeyInFlight
    if existing.fingerprint != fingerprint:
        raise KeyReused
    return existing if existing.status is not None else _take_over(existing)


def _take_over(existing: IdempotencyKey) -> IdempotencyKey:
    """Claim a key whose process has not responded for a minute. Raises KeyInFlight before that."""
    now = timezone.now()
    stale = IdempotencyKey.objects.filter(
        pk=existing.pk, status=None, attempt=existing.attempt, taken_at__lt=now - LEASE
    )
    if not stale.update(attempt=F("attempt") + 1, taken_at=now):
        raise KeyInFlight
    existing.attempt += 1
    return existing


def key_complete(taken: IdempotencyKey, *, status: int, body: str, headers: Mapping[str, str]) -> None:
    """Store the response in the transaction of the created rows. Raises KeyInFlight if the claim was lost."""
    mine = IdempotencyKey.objects.filter(pk=taken.pk, attempt=taken.attempt, status=None)
    if not mine.update(status=status, body=body, headers=dict(headers)):
        raise KeyInFlight


def key_release(taken: IdempotencyKey) -> None:
    """Delete the claim of a failed request, so that the sender can fix it and retry."""
    IdempotencyKey.objects.filter(pk=taken.pk, attempt=taken.attempt, status=None).delete()


def keys_clean() -> int:
    """Delete keys older than a day, and return how many."""
    return IdempotencyKey.objects.filter(created_at__lt=timezone.now() - KEPT).delete()[0]
