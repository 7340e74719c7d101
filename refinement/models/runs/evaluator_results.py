"""What an evaluator's command said of a round's candidate: written once, before the judge is asked."""

from typing import ClassVar

from django.db import models

from refinement.models.runs.rounds import Round


class OpenTo(models.TextChoices):
    """What the machine did not let us shut off from the command."""

    NOTHING = "", "Nothing"
    FILES = "files", "The instance's files"
    ALL = "all", "Files and network"


class EvaluatorResult(models.Model):
    """Beside the round and not in it: lists of rounds are read without these texts."""

    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="evaluator_result")
    command = models.JSONField()  # its parts, as the rubric has them
    exit_code = models.IntegerField(null=True, blank=True)  # NULL: it was stopped
    stopped = models.CharField(max_length=200, blank=True)
    failure = models.CharField(max_length=300, blank=True)  # why it counts as a complete failure
    stdout = models.TextField(blank=True)
    stderr = models.TextField(blank=True)
    stdout_missing = models.PositiveBigIntegerField(default=0)  # bytes that were not kept
    stderr_missing = models.PositiveBigIntegerField(default=0)
    seconds = models.DecimalField(max_digits=12, decimal_places=3)
    open_to = models.CharField(max_length=10, blank=True, choices=OpenTo)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(exit_code__isnull=False, stopped="")
                | (models.Q(exit_code__isnull=True) & ~models.Q(stopped="")),
                name="evaluator_ended_or_was_stopped",
            )
        ]

    def __str__(self) -> str:
        return f"evaluator's output on round {self.round_id}"
