"""Messages that wake work up. Lost messages are sent again, and duplicates change nothing."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from dramatiq import Actor

from refinement.execution.leases import LEASED, due_and_free
from refinement.models.leased import Leased

IN_TRANSIT = timedelta(seconds=0.5)  # how long a message usually takes to reach an idle thread, at most
RESEND_AFTER = timedelta(seconds=10)  # how long a message may take to arrive before another is sent
MAX_DOUBLINGS = 6
SWEEP_AT_MOST = 200


def wake(model: type[Leased], pk: int, *, delay: timedelta = timedelta()) -> None:
    """Sends a message to the workers that the row is due, after `delay`."""
    # Imported here: the actors import execution, which wakes rows for their next step.
    from refinement.actors import actor_of

    message_send(actor_of(model), pk, delay=delay)


def message_send(actor: "Actor[Any, Any]", pk: int, *, delay: timedelta = timedelta()) -> None:
    """Sends a message with a row's key.

    With the database as broker, the message is part of the caller's transaction. With other brokers it is
    sent after the commit; if that fails, the sweeper sends it later.
    """
    from refinement.broker.database import DatabaseBroker

    milliseconds = int(delay.total_seconds() * 1000) or None

    def send() -> None:
        actor.send_with_options(args=(pk,), delay=milliseconds)

    if isinstance(actor.broker, DatabaseBroker):
        send()
    else:
        # Robust: an unreachable broker fails the message, not the work.
        transaction.on_commit(send, robust=True)


@dataclass(frozen=True, slots=True)
class SweepResult:
    """How many messages were sent again, and how many of them because a worker crashed."""

    sent: int = 0
    expired: int = 0


def sweep(*, patient: bool = True) -> SweepResult:
    """Sends messages again for work that is due and that no worker holds.

    Any number of processes may sweep at the same time: one of them resends for each row. `patient=False`
    skips the growing wait between messages: a worker with idle threads would have received them by now.
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
    return SweepResult(sent, expired)


@transaction.atomic
def resend(model: type[Leased], pk: int, wakes: int, now: datetime) -> bool:
    """Sends a message for the row, unless another process has done so."""
    row = model.objects.filter(not_sent_lately(now), pk=pk, wakes=wakes)
    taken = row.update(woken_at=now, wakes=F("wakes") + 1)
    if taken:
        wake(model, pk)
    return bool(taken)


def not_sent_lately(now: datetime) -> Q:
    return Q(woken_at__isnull=True) | Q(woken_at__lte=now - RESEND_AFTER)


def overdue(now: datetime) -> Q:
    """No message was sent, or so long ago that it must be lost; the wait doubles with each message."""
    condition = Q(woken_at__isnull=True)
    for wakes in range(MAX_DOUBLINGS):
        condition |= Q(wakes=wakes, woken_at__lte=now - RESEND_AFTER * 2**wakes)
    return condition | Q(wakes__gte=MAX_DOUBLINGS, woken_at__lte=now - RESEND_AFTER * 2**MAX_DOUBLINGS)


def work_is_waiting() -> bool:
    """Whether any work is due that no idle thread has taken.

    Work whose message was sent just now does not count: it is on its way to a thread. Otherwise runs that
    make way for each other would go on doing so after every step.
    """
    sent = timezone.now() - IN_TRANSIT
    return any(due_and_free(model).filter(woken_at__lte=sent).exists() for model in LEASED)
