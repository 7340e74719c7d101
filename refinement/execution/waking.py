"""Messages are wake-ups: what is lost is sent again, what comes twice changes nothing."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from refinement.execution.leases import due_and_free
from refinement.models import Run

if TYPE_CHECKING:
    from dramatiq import Actor

FIRST_PATIENCE = timedelta(seconds=10)  # how long a message may take to arrive before another is sent
MOST_DOUBLINGS = 6
SWEEP_AT_MOST = 200


def run_wake(run_id: int, *, delay: timedelta = timedelta()) -> None:
    """Has a worker advance the run; with the database as broker this joins the caller's transaction."""
    # Imported here: the actors import the steps, and the steps wake the run for the next one.
    from refinement.actors import advance_run

    wake(advance_run, run_id, delay)


def wake(actor: "Actor[Any, Any]", number: int, delay: timedelta = timedelta()) -> None:
    """Sends an actor a row's number; with the database as broker this joins the caller's transaction."""
    from refinement.broker.database import DatabaseBroker

    milliseconds = int(delay.total_seconds() * 1000) or None

    def send() -> None:
        actor.send_with_options(args=(number,), delay=milliseconds)

    if isinstance(actor.broker, DatabaseBroker):
        send()
    else:
        # A broker that does not answer fails the sending, not the work: the sweeper sends again.
        transaction.on_commit(send, robust=True)


@dataclass(frozen=True, slots=True)
class Swept:
    """How many runs were sent for again, and how many of them a lost holder had left behind."""

    sent: int = 0
    expired: int = 0


def sweep(*, patient: bool = True) -> Swept:
    """Sends again for runs that are due and that nobody works on.

    Any number of processes may sweep at once: each run is taken by one of them. A worker that has
    threads to spare need not be `patient`: what it could do and was not given must be lost.
    """
    now = timezone.now()
    lost = out_of_patience(now) if patient else not_sent_for_lately(now)
    overdue = due_runs().filter(lost).values_list("pk", "wakes", "lease_until")[:SWEEP_AT_MOST]
    sent = expired = 0
    for run_id, wakes, lease_until in list(overdue):
        if resend(run_id, wakes, now):
            sent += 1
            expired += lease_until is not None
    return Swept(sent, expired)


@transaction.atomic
def resend(run_id: int, wakes: int, now: datetime) -> bool:
    """Sends for the run, unless another process does so at this moment."""
    run = Run.objects.filter(not_sent_for_lately(now), pk=run_id, wakes=wakes)
    taken = run.update(woken_at=now, wakes=F("wakes") + 1)
    if taken:
        run_wake(run_id)
    return bool(taken)


def not_sent_for_lately(now: datetime) -> Q:
    return Q(woken_at__isnull=True) | Q(woken_at__lte=now - FIRST_PATIENCE)


def out_of_patience(now: datetime) -> Q:
    """Nothing was sent, or so long ago that it must be lost; the patience doubles with each sending."""
    found = Q(woken_at__isnull=True)
    for wakes in range(MOST_DOUBLINGS):
        found |= Q(wakes=wakes, woken_at__lte=now - FIRST_PATIENCE * 2**wakes)
    return found | Q(wakes__gte=MOST_DOUBLINGS, woken_at__lte=now - FIRST_PATIENCE * 2**MOST_DOUBLINGS)


def due_runs() -> QuerySet[Run]:
    """Runs that should be advancing: queued, left by a lost holder, or done waiting."""
    due = Run.objects.filter(due_and_free(timezone.now()))
    return due.order_by(F("woken_at").asc(nulls_first=True), "pk")
