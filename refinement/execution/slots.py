"""Concurrency limits of endpoints: runs and trials share an endpoint's slots, across all workers."""

from collections.abc import Mapping
from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone

from refinement.execution.leases import Lease, Row, lease_write
from refinement.execution.waking import wake
from refinement.models import BenchTrial, RubricProposal, Run
from refinement.models.leased import Leased, WorkStatus
from refinement.selectors.endpoints import NoSuchEndpoint, endpoint_spec

RETRY_SECONDS = 0.5  # before work without a slot tries again, unless it is woken earlier
OFFER_LASTS = timedelta(seconds=1)  # how long a slot is kept for the work that it was offered to
CALLERS = (RubricProposal, BenchTrial, Run)  # first those that a user is watching; they are few


class NoFreeSlot(Exception):
    """The endpoint, or the evaluator, is at its concurrency limit; try again after `delay_seconds`."""

    def __init__(self, endpoint: str, delay_seconds: float = RETRY_SECONDS) -> None:
        super().__init__(f"no free slot at {endpoint}")
        self.endpoint = endpoint
        self.delay_seconds = delay_seconds


def waiting_label(endpoint: str) -> str:
    """The `waiting_for` text of rows that wait for a slot; `slot_pass_on` finds them by it."""
    return f"a free slot at {endpoint}"


@transaction.atomic
def slots_take(
    lease: Lease[Row], wanted: Mapping[str, int], limits: Mapping[str, int | None]
) -> dict[str, int]:
    """Takes slots at the endpoints for the lease's row; returns how many it got at each.

    `wanted` says how many calls each endpoint would get at once, `limits` how many it takes in total; None
    is no limit. The slots are freed when a step is recorded, and when the lease is released, expires or is
    lost. Those that the row has already are replaced. Raises LeaseLost.
    """
    granted: dict[str, int] = {}
    for endpoint in sorted(wanted):  # in one order, so that two rows never wait for each other's lock
        limit = limits[endpoint]
        if limit is None:
            granted[endpoint] = wanted[endpoint]
            continue
        lock_slots(endpoint)
        free = limit - sum(slots_in_use(model, endpoint, lease) for model in CALLERS)
        free -= sum(slots_offered(model, endpoint) for model in CALLERS)
        granted[endpoint] = max(0, min(wanted[endpoint], free))
    limited = {endpoint: slots for endpoint, slots in granted.items() if limits[endpoint] is not None}
    if limited:
        lease.row.calling = {endpoint: slots for endpoint, slots in limited.items() if slots}
        lease_write(lease, calling=lease.row.calling)
    return granted


def slots_in_use(model: type[Leased], endpoint: str, lease: Lease[Row]) -> int:
    """The slots that other rows of this model use at the endpoint now."""
    rows = model.objects.filter(status=WorkStatus.RUNNING, lease_until__gt=timezone.now())
    if model is type(lease.row):
        rows = rows.exclude(pk=lease.row.pk)
    return sum(calling.get(endpoint, 0) for calling in rows.values_list("calling", flat=True))


def slots_offered(model: type[Leased], endpoint: str) -> int:
    """The slots that are kept for rows whose turn it is, until a worker has taken them up.

    Without this, a run that has just freed its slot would take it again for its next step, every time.
    """
    now = timezone.now()
    return model.objects.filter(
        status=WorkStatus.WAITING,
        waiting_endpoint=endpoint,
        waiting_for=waiting_label(endpoint),
        next_try_at__lte=now,
        next_try_at__gt=now - OFFER_LASTS,
    ).count()


def slot_offer(endpoint: str, after: int = 0) -> None:
    """Wakes the next work that waits for a slot at the endpoint. If it is too late, it waits again.

    Runs take turns in the order of their keys; `after` is the key of the run that has just had its turn.
    """
    if has_limit(endpoint):
        any(slot_pass_on(model, endpoint, after if model is Run else 0) for model in CALLERS)


def slot_pass_on(model: type[Leased], endpoint: str, after: int = 0) -> bool:
    """Wakes the next row that waits for a slot; returns whether there was one."""
    waiting = model.objects.filter(
        status=WorkStatus.WAITING, waiting_endpoint=endpoint, waiting_for=waiting_label(endpoint)
    )
    if not waiting.exists():
        return False
    with transaction.atomic():
        lock_slots(endpoint)
        # Read under the lock: it must be later than any time another worker has set.
        now = timezone.now()
        others = waiting.filter(next_try_at__gt=now).order_by("pk").values_list("pk", flat=True)
        chosen = others.filter(pk__gt=after).first() or others.first()
        if chosen is None or not waiting.filter(pk=chosen).update(next_try_at=now, woken_at=now):
            return False
        wake(model, chosen)
    return True


def has_limit(endpoint: str) -> bool:
    try:
        return endpoint_spec(endpoint).concurrency is not None
    except NoSuchEndpoint:
        return False


def lock_slots(endpoint: str) -> None:
    """Locks the endpoint's slots until the transaction ends, so that counting and taking are atomic.

    On SQLite the transaction itself holds the database's write lock.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"place:{endpoint}"])
