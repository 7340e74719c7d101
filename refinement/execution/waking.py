"""Messages are wake-ups: a lost one is sent again, one that comes twice changes nothing."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from refinement.execution.leases import LEASED, due_and_free
from refinement.models.leased import Leased

RESEND_AFTER = timedelta(seconds=10)  # how long a message may take to arrive before another is sent
MOST_DOUBLINGS = 6
SWEEP_AT_MOST = 200


def wake(model: type[Leased], pk: int, *, delay: timedelta = timedelta()) -> None:
    """Sends a message for the row; with the database as broker this joins the caller's transaction."""
    # Imported here: the actors import execution, which wakes rows for their next step.
    from refinement.actors import actor_of
    from refinement.broker.database import DatabaseBroker

    actor = actor_of(model)
    milliseconds = int(delay.total_seconds() * 1000) or None

    def send() -> None:
        actor.send_with_options(args=(pk,), delay=milliseconds)

    if isinstance(actor.broker, DatabaseBroker):
        send()
    else:
        # A broker that is away fails the message, not the work: the sweeper sends another.
        transaction.on_commit(send, robust=True)


@dataclass(frozen=True, slots=True)
class Swept:
    """How many messages were sent again, and how many of them because a worker was lost."""

    sent: int = 0
    expired: int = 0


def sweep(*, patient: bool = True) -> Swept:
    """Sends again for work that is due and that no worker holds.

    Any number of processes may sweep at once: each row is taken by one of them. A worker with idle threads
    need not be `patient`: work that it could do and was not given must be lost.
    """
    sent = expired = 0
    for model in LEASED:
        now = timezone.now()
        lost = overdue(now) if patient else not_sent_lately(now)
        rows = due_and_free(model).filter(lost).order_by(F("woken_at").asc(nulls_first=True), "pk")
        for pk, wakes, lease_until in list(rows.values_list("pk", "wakes", "lease_until")[:SWEEP_AT_MOST]):
            if resend(model, pk, wakes, now):
                sent += 1
                expired += lease_until is not None
    return Swept(sent, expired)


@transaction.atomic
def resend(model: type[Leased], pk: int, wakes: int, now: datetime) -> bool:
    """Sends for the row, unless another process is doing so."""
    row = model.objects.filter(not_sent_lately(now), pk=pk, wakes=wakes)
    taken = row.update(woken_at=now, wakes=F("wakes") + 1)
    if taken:
        wake(model, pk)
    return bool(taken)


def not_sent_lately(now: datetime) -> Q:
    return Q(woken_at__isnull=True) | Q(woken_at__lte=now - RESEND_AFTER)


def overdue(now: datetime) -> Q:
    """Nothing was sent, or so long ago that it must be lost; the wait doubles with each message."""
    found = Q(woken_at__isnull=True)
    for wakes in range(MOST_DOUBLINGS):
        found |= Q(wakes=wakes, woken_at__lte=now - RESEND_AFTER * 2**wakes)
    return found | Q(wakes__gte=MOST_DOUBLINGS, woken_at__lte=now - RESEND_AFTER * 2**MOST_DOUBLINGS)


def work_is_waiting() -> bool:
    """Whether any work is due that no worker has taken yet."""
    return any(due_and_free(model).exists() for model in LEASED)
