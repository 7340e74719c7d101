"""Metrics: each process counts, adds its totals to the shared ones, and the metrics page reads them."""

import threading
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count

from refinement.execution.leases import due_and_free
from refinement.models import MessageState, MetricTotal, QueuedMessage, Run, RunStatus
from refinement.selectors.workers import workers_alive

ADD = (
    'INSERT INTO "refinement_metrictotal" AS total ("name", "label", "value") VALUES {} '
    'ON CONFLICT ("name", "label") DO UPDATE SET "value" = total."value" + excluded."value"'
)
_lock = threading.Lock()
_totals: Counter[tuple[str, str]] = Counter()


def count(name: str, label: str = "", amount: float = 1) -> None:
    """Adds to a total; it becomes visible with the process's next sign of life."""
    with _lock:
        _totals[name, label] += amount  # type: ignore[assignment]


def totals_flush() -> None:
    """Adds what has come together to the shared totals."""
    with _lock:
        pending = dict(_totals)
        _totals.clear()
    if not pending:
        return
    try:
        totals_add(pending)
    except DatabaseError:
        with _lock:
            _totals.update(pending)  # counted once more with the next sign of life
        raise


def totals_add(pending: dict[tuple[str, str], int]) -> None:
    """One statement, in one order everywhere, so that two processes never wait for each other's rows."""
    entries = [(name, label, float(amount)) for (name, label), amount in sorted(pending.items())]
    places = ", ".join(["(%s, %s, %s)"] * len(entries))
    with connection.cursor() as cursor:
        cursor.execute(ADD.format(places), [value for entry in entries for value in entry])


MOST_TOTALS = 500  # names and kinds are the code's own, so there are some dozens


@dataclass(frozen=True, slots=True)
class Family:
    """One metric: its values by the value of its label, or by "" where it has none."""

    name: str
    help: str
    label: str = ""
    values: dict[str, float] = field(default_factory=dict)


# The name in the table, what it is called outside, its label there, and what it counts.
COUNTERS = (
    ("steps", "wiggum_steps", "role", "Steps that workers carried out."),
    ("step_seconds", "wiggum_step_seconds", "role", "Seconds that workers' steps took."),
    ("failures", "wiggum_failures", "kind", "Steps in which a model call failed, by kind of error."),
    ("lease_expiries", "wiggum_lease_expiries", "", "Leases that ran out because their holder was lost."),
    ("swept", "wiggum_swept", "", "Messages sent again for runs that nobody worked on."),
    ("model_seconds", "wiggum_model_seconds", "", "Seconds that models worked on workers' calls."),
)


def counters() -> list[Family]:
    """What only ever grows, over all workers; a total without a label is there from the start, as 0."""
    found: dict[str, dict[str, float]] = {name: {} for name, *_ in COUNTERS}
    totals = MetricTotal.objects.filter(name__in=found).order_by("name", "label")
    for name, label, value in totals.values_list("name", "label", "value")[:MOST_TOTALS]:
        found[name][label] = value
    return [
        Family(outside, words, label, found[name] if label else {"": sum(found[name].values())})
        for name, outside, label, words in COUNTERS
    ]


def gauges() -> list[Family]:
    """What is there at this moment."""
    return [
        queue_depth(),
        Family("wiggum_runs", "Runs by status.", "status", runs_by_status()),
        Family("wiggum_workers", "Worker processes that are alive.", "", {"": workers_alive()}),
    ]


def queue_depth() -> Family:
    """Messages by state where the database is the broker; else the runs that wait for a worker."""
    if urlsplit(settings.BROKER_URL).scheme != "database":
        return Family(
            "wiggum_queue_depth", "Runs that wait for a worker.", "state", {"due": due_and_free(Run).count()}
        )
    counts = dict(QueuedMessage.objects.order_by().values_list("state").annotate(Count("pk")))
    depth: dict[str, float] = {state: counts.get(state, 0) for state in MessageState.values}
    return Family("wiggum_queue_depth", "Messages to workers by state.", "state", depth)


def runs_by_status() -> dict[str, float]:
    counts = dict(Run.objects.order_by().values_list("status").annotate(Count("pk")))
    return {status: counts.get(status, 0) for status in RunStatus.values}
