"""Live text of a model's reply in progress, deleted when the step is done."""

from typing import ClassVar

from django.db import models

from refinement.models.runs.runs import Run


class LiveText(models.Model):
    """A part of the reply in progress. Parts are added, never rewritten, so the cost stays linear."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="live_texts")
    attempt = models.PositiveIntegerField()  # the lease's: parts from a lost worker are not shown
    seat = models.PositiveSmallIntegerField(default=0)  # of a board's judge; 0 for everybody else
    position = models.PositiveIntegerField()
    text = models.TextField()

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "attempt", "seat", "position"], name="live_text_in_order")
        ]

    def __str__(self) -> str:
        return f"live text {self.position} of run {self.run_id}"
