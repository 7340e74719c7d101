"""The failures report of a project: reads ended runs, places their issues, and lets a clerk name categories.

Each part is short and committed separately. It checks that the report's lease is still held, so a worker
that was replaced stops, and the next one continues from there.
"""

from datetime import timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone

from refinement.execution.failures.naming import name_categories
from refinement.execution.failures.reading import MOST_RUNS, ended_runs, read_batch, runs_to_read
from refinement.execution.leases import LeaseLost
from refinement.models import FailureCategory, FailureIssue, FailureReading, Report, ReportKind

RUNS_AT_ONCE = 2_000  # then the figures are stored, and the rest is read next
LEASE = timedelta(seconds=90)


def compute_failures(project_id: int) -> dict[str, Any]:
    """Brings the project's categories up to date; raises LeaseLost. Returns how far it is."""
    holder = Holder(project_id)
    before = FailureIssue.objects.filter(project=project_id).count()
    read = 0
    while read < RUNS_AT_ONCE:
        holder.renew()
        if not (count := read_batch(project_id)):
            break
        read += count
    holder.renew()
    issues = FailureIssue.objects.filter(project=project_id)
    from refinement.execution.failures.placing import place_issues  # numpy and scipy

    placed = place_issues(project_id, new=issues.count() - before)
    holder.renew()
    name_categories(project_id, holder.renew)
    if runs_to_read(project_id).exists():
        holder.ask_again()
    return {
        "read": FailureReading.objects.filter(project=project_id).count(),
        "runs": min(MOST_RUNS, ended_runs(project_id).count()),
        "issues": issues.count(),
        "unplaced": issues.filter(category__isnull=True).count(),
        "categories": FailureCategory.objects.filter(project=project_id, merged_into__isnull=True).count(),
        "placed": placed.issues,
    }


class Holder:
    """The lease of the project's report, as the computation sees it."""

    def __init__(self, project_id: int) -> None:
        self.report = Report.objects.get(kind=ReportKind.FAILURES, subject=project_id)

    def renew(self) -> None:
        """Extends the lease; raises LeaseLost if another worker has it."""
        held = Report.objects.filter(
            pk=self.report.pk, attempt=self.report.attempt, lease_owner=self.report.lease_owner
        )
        if not held.update(lease_until=timezone.now() + LEASE):
            raise LeaseLost

    def ask_again(self) -> None:
        """Requests another computation after this one."""
        Report.objects.filter(pk=self.report.pk).update(asked=F("asked") + 1)
