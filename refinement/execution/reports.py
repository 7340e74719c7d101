"""Computes reports in workers: figures that pages show with their age.

A page never computes them: numpy and scipy are imported here, in a worker, when the first report needs them.
`report_outdate` marks a report as out of date and wakes a worker; requests during a computation are covered
by one more computation after it.
"""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeAlias

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from dramatiq.middleware import Interrupt

from refinement.broker.interrupting import work_is_done
from refinement.execution.leases import MAX_CRASHES, Lease, LeaseLost, lease_drop, lease_release, lease_take
from refinement.execution.trust.keeping import figures_copy
from refinement.execution.waking import wake
from refinement.models import Experiment, Project, Report, ReportKind, ReportStatus

log = logging.getLogger("wiggum.reports")
LEASE = timedelta(seconds=60)  # computing takes seconds; this is for a slow machine
PAUSE = timedelta(seconds=3)  # between two computations of the same report, at least
MOST_AGAIN = 20  # experiments whose figures are computed again when more is known about their judge
SHARE = 20  # and this many times as long as one takes: all of them cost a worker at most 5 %

# From the primary keys of the subject, and of what it is compared with if there is one, to the figures.
Compute: TypeAlias = Callable[..., dict[str, Any]]


def report_request(
    *, project: Project, kind: ReportKind, subject: int, other: int = 0, at_once: bool = False
) -> Report:
    """Marks the report as out of date, like `report_outdate`; returns it."""
    report_outdate(project_id=project.pk, kind=kind, subject=subject, other=other, at_once=at_once)
    return Report.objects.get(kind=kind, subject=subject, other=other)


@transaction.atomic(savepoint=False)
def report_outdate(
    *, project_id: int, kind: ReportKind, subject: int, other: int = 0, at_once: bool = False
) -> None:
    """Marks the report as out of date, creates it if there is none, and wakes a worker for it.

    `at_once` skips the pause after the last computation: for the last figures of something that has ended.
    Every run of an experiment that ends calls this, so it does not read the figures.
    """
    now = timezone.now()
    rows = Report.objects.filter(kind=kind, subject=subject, other=other)
    if not rows.update(asked=F("asked") + 1):
        report, created = Report.objects.get_or_create(
            kind=kind, subject=subject, other=other, defaults={"project_id": project_id, "woken_at": now}
        )
        if created:
            wake(Report, report.pk)
            return
        rows.update(asked=F("asked") + 1)  # another process has just created it
    resting = [ReportStatus.DONE, ReportStatus.FAILED, *([ReportStatus.WAITING] if at_once else [])]
    ended = rows.filter(status__in=resting)
    if ended.update(status=ReportStatus.QUEUED, woken_at=now, wakes=0, crashes=0, next_try_at=None):
        wake(Report, rows.values_list("pk", flat=True).get())


def compute_of(kind: str) -> Compute:
    """The function that computes reports of this kind."""
    if kind == ReportKind.EXPERIMENT:
        from refinement.selectors.experiments.reports.results import experiment_results

        return experiment_results
    if kind == ReportKind.COMPARISON:
        from refinement.selectors.experiments.reports.comparisons import experiments_compared

        return experiments_compared
    if kind == ReportKind.FAILURES:
        from refinement.execution.failures.computing import compute_failures

        return compute_failures
    if kind == ReportKind.TRUST:
        from refinement.execution.trust.computing import compute_trust

        return compute_trust
    if kind == ReportKind.JUDGES:
        from refinement.execution.trust.computing import compute_judges

        return compute_judges
    if kind == ReportKind.REPLAY:
        from refinement.execution.trust.replays import compute_replay

        return compute_replay
    raise LookupError(f"no function computes reports of kind {kind}")


def report_advance(report_id: int) -> bool:
    """Computes the report; False if there is nothing to do. Safe to call any number of times."""
    lease = lease_take(Report, report_id, lease_until=timezone.now() + LEASE)
    if lease is None:
        return False
    try:
        report_compute(lease)
        work_is_done()
    except LeaseLost:
        log.info("report=%s lost", report_id)
    except Interrupt:
        # The worker is stopping: another one receives the new message.
        if lease_drop(lease):
            wake(Report, report_id)
    except BaseException:
        lease_drop(lease)  # no new message: Dramatiq retries this one
        raise
    return True


def report_compute(lease: Lease[Report]) -> None:
    report = lease.row
    if report.crashes >= MAX_CRASHES:
        lease_release(
            lease,
            status=ReportStatus.FAILED,
            error="The worker stopped unexpectedly several times, so this is not retried.",
        )
        return
    subjects = (report.subject, report.other) if report.other else (report.subject,)
    began = time.monotonic()
    result = compute_of(report.kind)(*subjects)
    report_store(lease, result, pause=max(PAUSE, SHARE * timedelta(seconds=time.monotonic() - began)))


def experiments_again(judge: int) -> None:
    """Asks for the newest experiments' figures of a judge about whom more is known now."""
    used = Experiment.objects.filter(all_runs__judge_record=judge).distinct().order_by("-pk")
    for experiment in used.select_related("project")[:MOST_AGAIN]:
        report_request(project=experiment.project, kind=ReportKind.EXPERIMENT, subject=experiment.pk)


@transaction.atomic
def report_store(lease: Lease[Report], result: dict[str, Any], *, pause: timedelta = PAUSE) -> None:
    """Stores the figures; the report is computed again after a pause if it was requested meanwhile."""
    report, now = lease.row, timezone.now()
    lease_release(
        lease,
        status=ReportStatus.DONE,
        computed=report.asked,
        computed_at=now,
        result=result,
        error="",
        crashes=0,
    )
    is_of_a_judge = report.kind == ReportKind.TRUST and not report.other
    if is_of_a_judge and figures_copy(report.subject, result, now):
        experiments_again(report.subject)
    again = Report.objects.filter(pk=report.pk, asked__gt=report.asked)
    due = now + pause
    if again.update(status=ReportStatus.WAITING, next_try_at=due, woken_at=due, waiting_for="New results"):
        wake(Report, report.pk, delay=pause)
