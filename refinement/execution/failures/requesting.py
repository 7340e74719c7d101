"""Has a project's failures brought up to date after runs end, a pause later."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from refinement.execution.waking import wake
from refinement.models import Report, ReportKind, ReportStatus

PAUSE = timedelta(seconds=20)  # many runs end at the same time: they are read together


@transaction.atomic
def failures_request_later(project_id: int) -> bool:
    """Schedules the project's failures after a pause, if anybody has ever looked at them.

    At most one update for each run that ends, and none while the report is already scheduled.
    """
    rows = Report.objects.filter(kind=ReportKind.FAILURES, subject=project_id)
    due = timezone.now() + PAUSE
    ended = rows.filter(status__in=[ReportStatus.DONE, ReportStatus.FAILED])
    scheduled = ended.update(
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
