"""Evaluators that a person tries: on a text in the rubric editor, or again on a judged round."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.leased import Leased
from refinement.models.people.people import Project
from refinement.models.runs.evaluator_results import EvaluatorOutput
from refinement.models.runs.rounds import Round


class EvaluatorTrialStatus(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    WAITING = "waiting", "Waiting"
    DONE = "done", "Done"
    FAILED = "failed", "Not run"
    CANCELLED = "cancelled", "Cancelled"


class EvaluatorTrial(Leased):
    """One run of an evaluator's command on a text, carried out by a worker. It never changes a score."""

    Status = EvaluatorTrialStatus

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="evaluator_trials")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    # The judged round whose evaluator runs again; NULL for a text in the rubric editor.
    round = models.ForeignKey(
        Round, on_delete=models.CASCADE, null=True, blank=True, related_name="evaluator_trials"
    )
    definition = models.JSONField()  # the rubric, as in a run's snapshot
    text = models.TextField()
    status = models.CharField(
        max_length=10, choices=EvaluatorTrialStatus, default=EvaluatorTrialStatus.QUEUED
    )
    finished_at = models.DateTimeField(null=True, blank=True)
    last_line = models.CharField(max_length=200, blank=True)  # of its output, while it runs
    error = models.TextField(blank=True)  # why it was not run

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["status", "lease_until"], name="evaluator_trial_status_lease"),
            models.Index(fields=["created_by", "-id"], name="evaluator_trial_of_person"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(status__in=EvaluatorTrialStatus.values),
                name="evaluator_trial_status_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(status=EvaluatorTrialStatus.FAILED) | ~models.Q(error=""),
                name="evaluator_trial_failed_has_words",
            ),
        ]

    def __str__(self) -> str:
        return f"evaluator trial {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.finished_at is not None


class EvaluatorTrialResult(EvaluatorOutput):
    """The result of a trial that ran."""

    trial = models.OneToOneField(EvaluatorTrial, on_delete=models.CASCADE, related_name="result")
    contract_violation = models.TextField(blank=True)  # why the text violates the output contract

    def __str__(self) -> str:
        return f"result of evaluator trial {self.trial_id}"
