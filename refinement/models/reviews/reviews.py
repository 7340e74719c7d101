"""Review requests, and rules that create them."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.people.people import Project
from refinement.models.rubrics.rubrics import Rubric
from refinement.models.runs.runs import Run


class RuleKind(models.TextChoices):
    FAILED = "failed", "Every FAIL of a rubric"
    SIGNAL = "signal", "Every run with a judge check"
    SAMPLE = "sample", "A sample of finished runs"


class ReviewRule(models.Model):
    """Requests reviews when a run ends in a certain way."""

    Kind = RuleKind

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="review_rules")
    kind = models.CharField(max_length=10, choices=RuleKind)
    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    percent = models.PositiveSmallIntegerField(null=True, blank=True)
    due_days = models.PositiveSmallIntegerField(null=True, blank=True)
    reviewers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="review_rules")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=~models.Q(kind=RuleKind.FAILED) | models.Q(rubric__isnull=False),
                name="review_rule_failed_has_rubric",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind=RuleKind.SAMPLE)
                | (models.Q(percent__gte=1) & models.Q(percent__lte=100)),
                name="review_rule_sample_has_percent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} in {self.project_id}"


class ReviewRequest(models.Model):
    """A request to one person to review one run. Open until done or cancelled."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="review_requests")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="review_requests")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="review_requests"
    )
    rule = models.ForeignKey(
        ReviewRule, models.SET_NULL, null=True, blank=True, related_name="review_requests"
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    note = models.TextField(blank=True)
    asked_at = models.DateTimeField(auto_now_add=True)
    due_on = models.DateField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    taken_back = models.BooleanField(default=False)  # cancelled

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "reviewer"],
                condition=models.Q(closed_at__isnull=True),
                name="review_request_one_open",
            )
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["reviewer", "project", "id"],
                condition=models.Q(closed_at__isnull=True),
                name="review_request_waiting",
            ),
            models.Index(fields=["run", "id"], name="review_request_of_run"),
            models.Index(fields=["project", "-id"], name="review_request_newest"),
        ]

    def __str__(self) -> str:
        return f"review of run {self.run_id} by {self.reviewer_id}"
