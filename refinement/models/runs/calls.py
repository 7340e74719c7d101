"""Model calls, stored in full."""

from typing import ClassVar

from django.db import models

from refinement.models.runs.runs import Run


class Exchange(models.Model):
    """One request to a model, and its reply or error."""

    messages = models.JSONField()
    options = models.JSONField(default=dict)
    seen = models.JSONField(default=list, blank=True)
    withheld = models.JSONField(default=list, blank=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField()

    reply = models.TextField(blank=True)
    thinking = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=20, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(null=True, blank=True)
    seconds = models.DecimalField(max_digits=12, decimal_places=3, default=0)
    timings = models.JSONField(default=dict, blank=True)

    rung = models.CharField(max_length=30, blank=True)
    complaint = models.TextField(blank=True)
    error_kind = models.CharField(max_length=30, blank=True)
    error_message = models.TextField(blank=True)

    class Meta:
        abstract = True


class CallPurpose(models.TextChoices):
    """What a call is for. A round has calls of one role for different purposes."""

    DRAFT = "draft", "First draft"
    REVISE = "revise", "Revision"
    REPAIR = "repair", "Repair"
    SCORE = "score", "Scores"
    DELIBERATE = "deliberate", "Deliberation"
    COMPOSE = "compose", "Board"
    MERGE = "merge", "Merged suggestion"
    DESCRIBE = "describe", "Key change"


class Call(Exchange):
    """A call of a run. Attempts for one purpose, and on a board of one judge, are numbered from 1."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="calls")
    round_number = models.PositiveIntegerField()
    role = models.CharField(max_length=10)
    purpose = models.CharField(max_length=10, choices=CallPurpose)
    seat = models.PositiveSmallIntegerField(default=0)  # of a board's judge, from 1; 0 for all others
    attempt = models.PositiveSmallIntegerField()
    endpoint = models.CharField(max_length=400)
    model = models.CharField(max_length=200)
    # None if the model has no price.
    cost = models.DecimalField(max_digits=16, decimal_places=8, null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "round_number", "purpose", "seat", "attempt"], name="call_unique_in_run"
            )
        ]

    def __str__(self) -> str:
        return f"{self.role} call {self.attempt} of round {self.round_number}, run {self.run_id}"
