"""Metrics: each process adds its counts to totals in the database, which the metrics page reads."""

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
    """Adds `amount` to a total in memory; `totals_flush` saves it with the process's next heartbeat."""
    with _lock:
        _totals[name, label] += amount  # type: ignore[assignment]


def totals_flush() -> None:
    """Adds this process's counts to the totals in the database. On an error they are kept for next time."""
    with _lock:
        pending = dict(_totals)
        _totals.clear()
    if not pending:
        return
    try:
        totals_add(pending)
    except DatabaseError:
        with _lock:
            _totals.update(pending)  # saved with the next heartbeat
        raise


def totals_add(pending: dict[tuple[str, str], int]) -> None:
    """Adds in one statement, sorted: with the same order everywhere, two processes cannot deadlock."""
    entries = [(name, label, float(amount)) for (name, label), amount in sorted(pending.items())]
    placeholders = ", ".join(["(%s, %s, %s)"] * len(entries))
    with connection.cursor() as cursor:
        cursor.execute(ADD.format(placeholders), [value for entry in entries for value in entry])


MAX_TOTALS = 500  # names and labels are defined in code: there are a few dozen


@dataclass(frozen=True, slots=True)
class Family:
    """One metric with its values by label value, or under "" if it has no label."""

    name: str
    help: str
    label: str = ""
    values: dict[str, float] = field(default_factory=dict)


# Each counter's name in the table, exported name, label and help text.
COUNTERS = (
    ("steps", "wiggum_steps", "role", "Steps carried out by workers."),
    ("step_seconds", "wiggum_step_seconds", "role", "Duration of workers' steps in seconds."),
    ("failures", "wiggum_failures", "kind", "Steps in which a model call failed, by kind of error."),
    ("lease_expiries", "wiggum_lease_expiries", "", "Leases that expired because their worker was lost."),
    ("swept", "wiggum_swept", "", "Messages sent again for work that no worker had taken."),
    ("model_seconds", "wiggum_model_seconds", "", "Duration of workers' model calls in seconds."),
)


def counters() -> list[Family]:
    """Counters over all workers. A counter without a label starts at 0."""
    values: dict[str, dict[str, float]] = {name: {} for name, *_ in COUNTERS}
    totals = MetricTotal.objects.filter(name__in=values).order_by("name", "label")
    for name, label, value in totals.values_list("name", "label", "value")[:MAX_TOTALS]:
        values[name][label] = value
    return [
        Family(exported, help_text, label, values[name] if label else {"": sum(values[name].values())})
        for name, exported, label, help_text in COUNTERS
    ]


def gauges() -> list[Family]:
    """Current values."""
    return [
        queue_depth(),
        Family("wiggum_runs", "Runs by status.", "status", runs_by_status()),
        Family("wiggum_workers", "Worker processes online.", "", {"": workers_alive()}),
    ]


def queue_depth() -> Family:
    """Messages by state if the database is the broker, otherwise the number of runs waiting for a worker."""
    if urlsplit(settings.BROKER_URL).scheme != "database":
        return Family(
            "wiggum_queue_depth", "Runs waiting for a worker.", "state", {"due": due_and_free(Run).count()}
        )
    counts = dict(QueuedMessage.objects.order_by().values_list("state").annotate(Count("pk")))
    depth: dict[str, float] = {state: counts.get(state, 0) for state in MessageState.values}
    return Family("wiggum_queue_depth", "Messages to workers by state.", "state", depth)


def runs_by_status() -> dict[str, float]:
    counts = dict(Run.objects.order_by().values_list("status").annotate(Count("pk")))
    return {status: counts.get(status, 0) for status in RunStatus.values}
