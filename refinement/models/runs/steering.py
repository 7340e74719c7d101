"""Instructions for a run's next revision."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.runs.runs import Run


class Instruction(models.Model):
    """An instruction for the next revision. Used once, in round `used_in_round`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="instructions")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    author_name = models.CharField(max_length=120)
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    used_in_round = models.PositiveIntegerField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [models.Index(fields=["run", "id"], name="instruction_of_run")]
        constraints: ClassVar = [
            models.CheckConstraint(condition=~models.Q(text=""), name="instruction_not_empty"),
            models.CheckConstraint(
                condition=models.Q(used_in_round__isnull=True) | models.Q(withdrawn_at__isnull=True),
                name="instruction_used_or_withdrawn",
            ),
        ]

    def __str__(self) -> str:
        return f"instruction {self.pk} for run {self.run_id}"
