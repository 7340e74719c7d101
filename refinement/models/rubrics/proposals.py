"""Rubrics that the clerk proposes from a sample. Nothing is saved until a person saves the editor."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.leased import Leased
from refinement.models.people.people import Project
from refinement.models.runs.calls import Exchange


class ProposalStatus(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Writing"
    WAITING = "waiting", "Waiting"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class RubricProposal(Leased):
    """A sample with a goal, and the rubric that a model proposes for it. It counts in its month's budget."""

    Status = ProposalStatus

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rubric_proposals")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=10, choices=ProposalStatus, default=ProposalStatus.QUEUED)
    endpoint = models.CharField(max_length=400)
    model = models.CharField(max_length=200)
    nonce = models.CharField(max_length=32)
    failures = models.PositiveSmallIntegerField(default=0)
    goal = models.TextField()
    sample = models.TextField()
    definition = models.JSONField(null=True, blank=True)  # the proposed rubric, once it is done
    error = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["status", "lease_until"], name="proposal_status_lease"),
            models.Index(fields=["created_by", "-id"], name="proposal_of_person"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(status__in=ProposalStatus.values), name="proposal_status_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(status=ProposalStatus.FAILED) | ~models.Q(error=""),
                name="proposal_failed_has_words",
            ),
        ]

    def __str__(self) -> str:
        return f"proposal {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.finished_at is not None


class ProposalCall(Exchange):
    """A model call of a proposal."""

    proposal = models.ForeignKey(RubricProposal, on_delete=models.CASCADE, related_name="calls")
    number = models.PositiveSmallIntegerField()
    cost = models.DecimalField(max_digits=16, decimal_places=8, null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["proposal", "number"], name="proposal_call_unique")
        ]

    def __str__(self) -> str:
        return f"call {self.number} of proposal {self.proposal_id}"
