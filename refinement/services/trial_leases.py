"""Leases of trials: who may judge now. A lease that was lost writes nothing any more."""

from collections.abc import Collection
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from refinement.models import BenchTrial, TrialStatus
from refinement.services.leases import LEASE, LeaseChecks, LeaseKey, due_and_free
from refinement.services.places import one_at_a_time, runs_at
from refinement.services.trial_waking import trials_at


class TrialLost(Exception):
    """Somebody cancelled or took over the trial; the work in hand is thrown away."""


@dataclass(frozen=True, slots=True)
class TrialLease:
    """The right to judge one trial; `attempt` tells this holder from an earlier one."""

    trial: BenchTrial = field(compare=False, repr=False)  # as it was when the lease was taken
    trial_id: int
    owner: str
    attempt: int
    took_over: bool = False  # from a holder that was lost

    @property
    def key(self) -> LeaseKey:
        return self.trial_id, self.owner, self.attempt

    @property
    def held(self) -> QuerySet[BenchTrial]:
        return BenchTrial.objects.filter(
            pk=self.trial_id, lease_owner=self.owner, attempt=self.attempt, status=TrialStatus.RUNNING
        )


def trial_take(trial_id: int, owner: str) -> TrialLease | None:
    """Claims a trial that is due and that nobody holds; None when there is nothing to do."""
    now = timezone.now()
    hold = {
        "status": TrialStatus.RUNNING,
        "lease_owner": owner,
        "lease_until": now + LEASE,
        "attempt": F("attempt") + 1,
        "started_at": Coalesce("started_at", now),
        "next_try_at": None,
        "waiting_for": "",
        "waiting_endpoint": "",
        "calling_endpoint": "",
        "wakes": 0,
    }
    due = BenchTrial.objects.filter(due_and_free(now), pk=trial_id)
    taken = due.filter(lease_until=None).update(**hold)
    # A lease that ran out was never given back: its holder was lost, which is counted as the lease is taken.
    took_over = not taken and bool(due.filter(lease_until__lt=now).update(crashes=F("crashes") + 1, **hold))
    if not taken and not took_over:
        return None
    trial = BenchTrial.objects.select_related("bench__rubric_version").get(pk=trial_id)
    # Between the two, somebody may have cancelled; every write says so by finding no row.
    if trial.lease_owner != owner:
        return None
    return TrialLease(trial, trial_id, owner, trial.attempt, took_over)


def trials_held(trial_ids: Collection[int]) -> set[LeaseKey]:
    """The keys of those of the trials that are held now."""
    running = BenchTrial.objects.filter(pk__in=trial_ids, status=TrialStatus.RUNNING)
    return set(running.values_list("pk", "lease_owner", "attempt"))


trial_leases: LeaseChecks[TrialLease] = LeaseChecks(trials_held)


def trial_renew(lease: TrialLease) -> bool:
    """Extends the lease; False when it is lost."""
    return bool(lease.held.update(lease_until=timezone.now() + LEASE))


def trial_write(lease: TrialLease, **fields: object) -> None:
    """Changes the trial's row as its holder; raises TrialLost when it no longer is."""
    if not lease.held.update(**fields):
        raise TrialLost(f"trial {lease.trial_id} is no longer held by {lease.owner}")


def trial_release(lease: TrialLease, **fields: object) -> None:
    """Lets go of the trial, with a last change of its row."""
    trial_write(lease, lease_owner="", lease_until=None, calling_endpoint="", **fields)


@transaction.atomic
def trial_place_take(lease: TrialLease, endpoint: str, limit: int) -> bool:
    """Whether the trial may call the endpoint now; runs and trials share its places."""
    one_at_a_time(endpoint)
    others = trials_at(endpoint).exclude(pk=lease.trial_id).count()
    if runs_at(endpoint).count() + others >= limit:
        return False
    trial_write(lease, calling_endpoint=endpoint)
    return True
