"""People's decisions on runs. Rows are added and never changed."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.runs.runs import Run


class DecisionKind(models.TextChoices):
    RESULT = "result", "Another round is the result"
    APPROVED = "approved", "Approved"
    CHANGES = "changes", "Changes requested"
    REJECTED = "rejected", "Rejected"
    WITHDRAWN = "withdrawn", "Decision withdrawn"


class Decision(models.Model):
    """A decision with its reason. The newest one of a run applies."""

    Kind = DecisionKind

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="decisions")
    number = models.PositiveIntegerField()  # from 1, to detect concurrent decisions
    kind = models.CharField(max_length=10, choices=DecisionKind)
    round_number = models.PositiveIntegerField(null=True, blank=True)
    reason = models.TextField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="decisions"
    )
    author_name = models.CharField(max_length=120)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "number"], name="decision_unique_in_run"),
            models.CheckConstraint(condition=~models.Q(reason=""), name="decision_has_reason"),
            models.CheckConstraint(
                condition=~models.Q(kind=DecisionKind.RESULT) | models.Q(round_number__isnull=False),
                name="decision_result_names_round",
            ),
        ]

    def __str__(self) -> str:
        return f"decision {self.number} on run {self.run_id}: {self.kind}"
