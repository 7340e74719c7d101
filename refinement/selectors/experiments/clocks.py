"""How long an experiment has worked: without the time in which it was paused, or finished and then rerun."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.utils import timezone

from refinement.models import Experiment, Report, Run, RunStatus

GOING = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING)


def busy_seconds(experiment: Experiment) -> float:
    """The time during which at least one of its runs was running. One query over all runs: for workers."""
    now = timezone.now()
    rows = Run.objects.filter(experiment=experiment, started_at__isnull=False).order_by("started_at")
    columns = ("started_at", "finished_at", "status", "model_seconds")
    spans: list[tuple[datetime, datetime]] = []
    for started, finished, status, seconds in rows.values_list(*columns):
        if started is not None:
            last = now if status in GOING else started + timedelta(seconds=float(seconds))
            spans.append((started, finished or last))
    return covered(spans).total_seconds()


def covered(spans: Iterable[tuple[datetime, datetime]]) -> timedelta:
    """The length of these spans together, sorted by their start, where overlaps count once."""
    total = timedelta()
    until: datetime | None = None
    for start, end in spans:
        if until is None or start > until:
            total, until = total + max(end - start, timedelta()), end
        elif end > until:
            total, until = total + (end - until), end
    return total


def elapsed_of(experiment: Experiment, report: Report | None, *, running: bool) -> timedelta:
    """The time worked so far, from the report and since it was computed; without one, since the launch."""
    known = (report.result or {}).get("busy_seconds") if report else None
    if report is None or known is None or report.computed_at is None:
        return (experiment.finished_at or timezone.now()) - experiment.created_at
    since = timezone.now() - report.computed_at if running and not experiment.is_finished else timedelta()
    return timedelta(seconds=known) + since
