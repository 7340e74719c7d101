"""Schedules an update of a project's failures some time after runs end."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from refinement.execution.waking import wake
from refinement.models import Report, ReportKind, ReportStatus

PAUSE = timedelta(seconds=20)  # many runs end at the same time: they are read together


def failures_request_later(project_id: int) -> bool:
    """Schedules the project's failures after a pause, if anybody has ever opened the page.

    Costs one query if the report is scheduled already, or nobody has opened the page.
    """
    rows = Report.objects.filter(kind=ReportKind.FAILURES, subject=project_id)
    resting = [ReportStatus.DONE, ReportStatus.FAILED]
    if not rows.filter(status__in=[*resting, ReportStatus.RUNNING]).exists():
        return False
    due = timezone.now() + PAUSE
    with transaction.atomic():
        scheduled = rows.filter(status__in=resting).update(
            status=ReportStatus.WAITING,
            asked=F("asked") + 1,
            next_try_at=due,
            woken_at=due,
            waiting_for="New results",
            wakes=0,
            crashes=0,
        )
        if scheduled:
            for pk in rows.values_list("pk", flat=True):
                wake(Report, pk, delay=PAUSE)
            return True
    return bool(rows.filter(status=ReportStatus.RUNNING).update(asked=F("asked") + 1))
