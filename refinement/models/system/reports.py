"""Reports: figures that a worker computes and pages show with their age."""

from typing import ClassVar

from django.db import models

from refinement.models.leased import Leased
from refinement.models.people.people import Project


class ReportKind(models.TextChoices):
    EXPERIMENT = "experiment", "Experiment"
    COMPARISON = "comparison", "Comparison"
    FAILURES = "failures", "Failures"
    TRUST = "trust", "Judge trust"
    JUDGES = "judges", "Two judges"
    REPLAY = "replay", "Replay"


class ReportStatus(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    WAITING = "waiting", "Waiting"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


class Report(Leased):
    """The last computed figures of one subject, such as an experiment. See `execution/reports.py`.

    `asked` counts what makes it out of date, and `computed` is the count that `result` covers.
    """

    Status = ReportStatus

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="reports")
    kind = models.CharField(max_length=12, choices=ReportKind)
    subject = models.PositiveBigIntegerField()  # primary key of what it is about
    other = models.PositiveBigIntegerField(default=0)  # of what that is compared with; 0 for nothing
    status = models.CharField(max_length=10, choices=ReportStatus, default=ReportStatus.QUEUED)
    asked = models.PositiveIntegerField(default=1)
    computed = models.PositiveIntegerField(default=0)
    computed_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
    result = models.JSONField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["status", "lease_until"], name="report_status_lease"),
            models.Index(fields=["status", "next_try_at"], name="report_status_next_try"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["kind", "subject", "other"], name="report_unique"),
            models.CheckConstraint(
                condition=models.Q(status__in=ReportStatus.values), name="report_status_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} report of {self.subject}"

    @property
    def is_current(self) -> bool:
        return self.computed == self.asked
