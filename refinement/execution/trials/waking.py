"""Messages for trials are wake-ups, as for runs: what is lost is sent again, what comes twice is nothing."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from refinement.execution.leases import due_and_free
from refinement.execution.waking import SWEEP_AT_MOST, out_of_patience, wake
from refinement.models import BenchTrial, TrialStatus


def trial_wake(trial_id: int, *, delay: timedelta = timedelta()) -> None:
    """Has a worker judge; with the database as broker this joins the caller's transaction."""
    # Imported here: the actors import the trials, and the trials wake themselves for another try.
    from refinement.actors import judge_trial

    wake(judge_trial, trial_id, delay)


def trials_sweep() -> int:
    """Sends again for trials that are due and that nobody works on; how many those were."""
    now = timezone.now()
    swept = 0
    lost = due_trials().filter(out_of_patience(now)).values_list("pk", "woken_at", "wakes")
    for trial_id, woken_at, wakes in lost[:SWEEP_AT_MOST]:
        with transaction.atomic():
            taken = BenchTrial.objects.filter(pk=trial_id, woken_at=woken_at, wakes=wakes).update(
                woken_at=now, wakes=F("wakes") + 1
            )
            if taken:
                trial_wake(trial_id)
                swept += 1
    return swept


def due_trials() -> QuerySet[BenchTrial]:
    """Trials that should be going on: queued, left by a lost holder, or done waiting."""
    due = BenchTrial.objects.filter(due_and_free(timezone.now()))
    return due.order_by(F("woken_at").asc(nulls_first=True), "pk")


def trials_at(endpoint: str) -> QuerySet[BenchTrial]:
    """Trials that are asking there now: they count among the calls that an endpoint takes at once."""
    return BenchTrial.objects.filter(
        status=TrialStatus.RUNNING, lease_until__gt=timezone.now(), calling_endpoint=endpoint
    )


@transaction.atomic
def trial_offer(endpoint: str) -> bool:
    """Sends for the oldest trial that waits for a place there; whether there was one."""
    now = timezone.now()
    waiting = BenchTrial.objects.filter(
        status=TrialStatus.WAITING, waiting_endpoint=endpoint, next_try_at__gt=now
    )
    oldest = waiting.order_by("pk").values_list("pk", flat=True).first()
    if oldest is None or not waiting.filter(pk=oldest).update(next_try_at=now, woken_at=now):
        return False
    trial_wake(oldest)
    return True
