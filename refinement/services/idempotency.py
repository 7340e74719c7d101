"""A request that creates something and comes twice under one name has one effect and one answer.

The name is taken in a transaction of its own, so that a second request finds it at once. What is created
and what is answered are then written in one transaction: either both are there or neither. Whoever dies in
between leaves the name to be taken up again; a slow one that lost it cannot write any more.
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
    """Somebody is at work on the request of this name."""


class KeyReused(Exception):
    """The name was given to another request before."""


def key_take(*, sender: str, key: str, fingerprint: str) -> IdempotencyKey:
    """The name as ours, or (with a status) the answer it has had; raises KeyInFlight, KeyReused."""
    fresh = IdempotencyKey(sender=sender, key=key, fingerprint=fingerprint)
    try:
        with transaction.atomic():
            fresh.save(force_insert=True)
    except IntegrityError:
        found = IdempotencyKey.objects.filter(sender=sender, key=key).first()
    else:
        return fresh
    if found is None:
        raise KeyInFlight
    if found.fingerprint != fingerprint:
        raise KeyReused
    return found if found.status is not None else _taken_over(found)


def _taken_over(found: IdempotencyKey) -> IdempotencyKey:
    """What nobody answered for a minute was left behind by somebody who died."""
    now = timezone.now()
    stale = IdempotencyKey.objects.filter(
        pk=found.pk, status=None, attempt=found.attempt, taken_at__lt=now - LEASE
    )
    if not stale.update(attempt=F("attempt") + 1, taken_at=now):
        raise KeyInFlight
    found.attempt += 1
    return found


def key_keep(taken: IdempotencyKey, *, status: int, body: str, headers: Mapping[str, str]) -> None:
    """The answer, in the transaction of what was created; raises KeyInFlight where the name was lost."""
    mine = IdempotencyKey.objects.filter(pk=taken.pk, attempt=taken.attempt, status=None)
    if not mine.update(status=status, body=body, headers=dict(headers)):
        raise KeyInFlight


def key_release(taken: IdempotencyKey) -> None:
    """A refusal is not kept: the sender may put right what was wrong, or try again later."""
    IdempotencyKey.objects.filter(pk=taken.pk, attempt=taken.attempt, status=None).delete()


def keys_forget() -> int:
    """Names are kept for a day; says how many were let go."""
    return IdempotencyKey.objects.filter(created_at__lt=timezone.now() - KEPT).delete()[0]
