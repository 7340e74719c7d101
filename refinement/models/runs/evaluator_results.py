"""Output of evaluator commands, written once, before the judge is called."""

from typing import ClassVar

from django.db import models

from refinement.models.runs.rounds import Round


class OpenTo(models.TextChoices):
    """What the sandbox could not isolate from the command on this machine."""

    NOTHING = "", "Nothing"
    FILES = "files", "The instance's files"
    ALL = "all", "Files and network"


class EvaluatorResult(models.Model):
    """An evaluator's result for a round. A separate table keeps these texts out of lists of rounds."""

    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="evaluator_result")
    command = models.JSONField()  # the arguments, as in the rubric
    exit_code = models.IntegerField(null=True, blank=True)  # NULL: stopped
    stopped = models.CharField(max_length=200, blank=True)
    failure = models.CharField(max_length=300, blank=True)  # why it counts as a complete failure
    stdout = models.TextField(blank=True)
    stderr = models.TextField(blank=True)
    stdout_missing = models.PositiveBigIntegerField(default=0)  # bytes that were cut
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
