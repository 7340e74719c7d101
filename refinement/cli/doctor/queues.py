"""Checks of the message broker and the workers."""

from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from refinement.cli.doctor.clocks import clock_finding
from refinement.cli.doctor.findings import Finding, fail, ok, warn
from refinement.models import Run, RunStatus, WorkerBeat
from refinement.selectors.workers import ALIVE_WITHIN
from wiggum_site import VERSION
from wiggum_site.broker import broker_problem

START = {
    "Redis": "Start Redis (redis-server, or systemctl start redis)",
    "RabbitMQ": "Start RabbitMQ (systemctl start rabbitmq-server)",
}
START_WORKER = "Start one with wiggum worker, or everything with wiggum up"


def broker() -> Finding:
    """Whether the message broker is reachable."""
    parts = urlsplit(settings.BROKER_URL)
    if parts.scheme == "database":
        return database_broker()
    where = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    server = "Redis" if parts.scheme.startswith("redis") else "RabbitMQ"
    problem = broker_problem()
    if problem:
        return fail("broker", f"{problem} at {where}", f"{START[server]}, or fix WIGGUM_BROKER_URL.")
    return ok("broker", f"{server} at {where} is reachable")


def database_broker() -> Finding:
    problem = broker_problem()
    if problem:
        return fail("broker", problem, "See the findings about the database and its migrations.")
    return ok("broker", "the database is the message broker")


def workers() -> list[Finding]:
    """Whether a worker is online, with this version and the same clock."""
    try:
        beats = list(WorkerBeat.objects.order_by("name"))
        waiting = Run.objects.filter(
            status__in=[RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING]
        ).count()
    except DatabaseError:
        return [
            fail("worker", "unknown: the database cannot be read", "See the findings about the database.")
        ]
    now = timezone.now()
    alive = [beat for beat in beats if beat.seen_at >= now - ALIVE_WITHIN]
    if not alive:
        runs = f"; {waiting} unfinished run{'' if waiting == 1 else 's'}" if waiting else ""
        seconds = ALIVE_WITHIN.total_seconds()
        return [fail("worker", f"no worker online in the last {seconds:.0f} s{runs}", START_WORKER)]
    return [*(worker_clock(beat) for beat in alive if beat.seen_at > now), worker_state(alive)]


def worker_state(alive: list[WorkerBeat]) -> Finding:
    threads = sum(beat.threads for beat in alive)
    what = f"{len(alive)} worker{'' if len(alive) == 1 else 's'} with {threads} threads"
    other = sorted({beat.version for beat in alive} - {VERSION})
    if other:
        what = f"{what}, but version {', '.join(other)} instead of {VERSION}"
        return warn("worker", what, "Restart the workers to use this version.")
    return ok("worker", f"{what} online")


def worker_clock(beat: WorkerBeat) -> Finding:
    """A heartbeat from the future: the worker's clock is ahead of this machine's."""
    host = beat.name.split(":")[0]
    return clock_finding(
        "worker clock", f"the worker on {host}", beat.seen_at.timestamp(), timezone.now().timestamp()
    )
