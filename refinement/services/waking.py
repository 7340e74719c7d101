"""Messages are wake-ups: what is lost is sent again, what comes twice changes nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from refinement.models import Run, RunStatus
from refinement.models.statements import rows_select

if TYPE_CHECKING:
    from dramatiq import Actor, Message

FIRST_PATIENCE = timedelta(seconds=10)  # how long a message may take to arrive before another is sent
MOST_DOUBLINGS = 6
SWEEP_AT_MOST = 200
OVERDUE_COLUMNS = ("pk", "wakes", "lease_until")
# Every worker asks this every two seconds, mostly in vain: as a plain statement it costs next to nothing.
OVERDUE = (
    'SELECT "id", "wakes", "lease_until" FROM "refinement_run" WHERE '
    '(("status" IN (\'queued\', \'running\') AND ("lease_until" IS NULL OR "lease_until" < %s)) '
    'OR ("status" = \'waiting\' AND "next_try_at" <= %s)) '
    'AND ("woken_at" IS NULL OR "woken_at" <= %s) ORDER BY "woken_at" ASC NULLS FIRST, "id" LIMIT %s'
)


def run_wake(run_id: int, *, delay: timedelta = timedelta()) -> None:
    """Has a worker advance the run; with the database as broker this joins the caller's transaction."""
    # Imported here: the actors import the steps, and the steps wake the run for the next one.
    from refinement.actors import advance_run

    wake(advance_run, run_id, delay)


def run_message(run_id: int) -> "Message[Any]":
    """What has a worker advance the run, to be passed on."""
    from refinement.actors import advance_run

    return advance_run.message(run_id)


def run_pass_on(message: "Message[Any]") -> bool:
    """Has this process advance the run once more, by the message that this thread is at work on.

    False where that cannot be, or where others wait for their turn: then a message is to be sent. With the
    database as broker this joins the caller's transaction.
    """
    from refinement.actors import broker

    pass_on: Callable[[object], bool] | None = getattr(broker, "pass_on", None)
    return pass_on is not None and pass_on(message)


def run_may_pass_on(message: "Message[Any]") -> bool:
    """Whether `run_pass_on` is worth a try, where it can be made only after the commit."""
    from refinement.actors import broker

    may: Callable[[object], bool] | None = getattr(broker, "may_pass_on", None)
    return may is not None and may(message)


def sending_joins() -> bool:
    """Whether what is sent joins the transaction: it then stands or falls with what is written there."""
    from refinement.broker.database import DatabaseBroker
    from wiggum_site.broker import broker

    return isinstance(broker, DatabaseBroker)


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
    overdue = rows_select(OVERDUE, [now, now, now - FIRST_PATIENCE, SWEEP_AT_MOST])
    if patient and overdue:
        overdue = list(due_runs().filter(out_of_patience(now)).values_list(*OVERDUE_COLUMNS)[:SWEEP_AT_MOST])
    sent = expired = 0
    for run_id, wakes, lease_until in overdue:
        if resend(run_id, wakes, now):
            sent += 1
            expired += lease_until is not None
    return Swept(sent, expired)


@transaction.atomic
def resend(run_id: int, wakes: int, now: datetime) -> bool:
    """Sends for the run, unless another process does so at this moment."""
    not_yet = Q(woken_at__isnull=True) | Q(woken_at__lte=now - FIRST_PATIENCE)
    taken = Run.objects.filter(not_yet, pk=run_id, wakes=wakes).update(woken_at=now, wakes=F("wakes") + 1)
    if taken:
        run_wake(run_id)
    return bool(taken)


def out_of_patience(now: datetime) -> Q:
    """Nothing was sent, or so long ago that it must be lost; the patience doubles with each sending."""
    found = Q(woken_at__isnull=True)
    for wakes in range(MOST_DOUBLINGS):
        found |= Q(wakes=wakes, woken_at__lte=now - FIRST_PATIENCE * 2**wakes)
    return found | Q(wakes__gte=MOST_DOUBLINGS, woken_at__lte=now - FIRST_PATIENCE * 2**MOST_DOUBLINGS)


def due_runs() -> QuerySet[Run]:
    """Runs that should be advancing: queued, left by a lost holder, or done waiting."""
    now = timezone.now()
    free = Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    going = Q(status__in=[RunStatus.QUEUED, RunStatus.RUNNING]) & free
    waited = Q(status=RunStatus.WAITING, next_try_at__lte=now)
    return Run.objects.filter(going | waited).order_by(F("woken_at").asc(nulls_first=True), "pk")
