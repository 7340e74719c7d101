"""How many calls an endpoint serves at once, of runs and of trials, counted over all workers."""

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from refinement.execution.leases import Lease, lease_write
from refinement.execution.trials.waking import trial_offer, trials_at
from refinement.execution.waking import run_wake
from refinement.models import Run, RunStatus
from refinement.selectors.endpoints import NoSuchEndpoint, endpoint_spec

PLACE_DELAY_SECONDS = 0.5  # until a run that found no place tries again, unless it is sent for before


class NoFreePlace(Exception):
    """The endpoint, or the evaluator, serves as many runs as it may; this one waits its turn."""

    def __init__(self, endpoint: str, delay_seconds: float = PLACE_DELAY_SECONDS) -> None:
        super().__init__(f"no free place at {endpoint}")
        self.endpoint = endpoint
        self.delay_seconds = delay_seconds


@transaction.atomic
def place_take(lease: Lease, endpoint: str, limit: int) -> bool:
    """Whether the run may call the endpoint now; a place is given back with the lease, or lost with it."""
    one_at_a_time(endpoint)
    others = runs_at(endpoint).exclude(pk=lease.run_id).count()
    if others + trials_at(endpoint).count() >= limit:
        return False
    lease_write(lease, calling_endpoint=endpoint)
    return True


def runs_at(endpoint: str) -> QuerySet[Run]:
    """Runs that are asking there now."""
    return Run.objects.filter(
        status=RunStatus.RUNNING, lease_until__gt=timezone.now(), calling_endpoint=endpoint
    )


def place_offer(endpoint: str) -> None:
    """Sends for the oldest who waits for a place here; if they come too late, they wait on."""
    if not has_places(endpoint):
        return
    # Trials first: somebody watches them, and there are ten at most.
    if not trial_offer(endpoint):
        place_pass_on(endpoint)


def place_pass_on(endpoint: str) -> None:
    """Sends for the oldest run that waits for a place there, if one does."""
    if waiting_for_place(endpoint).exists():
        send_for_oldest(endpoint)


@transaction.atomic
def send_for_oldest(endpoint: str) -> None:
    one_at_a_time(endpoint)
    # Read under the lock, so that it is later than whatever somebody else has set before.
    now = timezone.now()
    waiting = waiting_for_place(endpoint).filter(next_try_at__gt=now)
    oldest = waiting.order_by("pk").values_list("pk", flat=True).first()
    if oldest is not None and waiting.filter(pk=oldest).update(next_try_at=now, woken_at=now):
        run_wake(oldest)


def waiting_for_place(endpoint: str) -> QuerySet[Run]:
    return Run.objects.filter(
        status=RunStatus.WAITING, waiting_endpoint=endpoint, waiting_for=f"a free place at {endpoint}"
    )


def has_places(endpoint: str) -> bool:
    try:
        return endpoint_spec(endpoint).concurrency is not None
    except NoSuchEndpoint:
        return False


def one_at_a_time(endpoint: str) -> None:
    """Counting and taking must not be split: SQLite's transactions hold its one write lock anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"place:{endpoint}"])
