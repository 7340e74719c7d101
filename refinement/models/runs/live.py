"""Text that a model is writing now: pieces in order, gone when the step is done."""

from typing import ClassVar

from django.db import models

from refinement.models.runs.runs import Run


class LiveText(models.Model):
    """A piece of the reply under way. Pieces are added, never rewritten, so the cost stays linear."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="live_texts")
    attempt = models.PositiveIntegerField()  # the lease's: pieces of a lost holder are not shown
    position = models.PositiveIntegerField()
    text = models.TextField()

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "attempt", "position"], name="live_text_in_order")
        ]

    def __str__(self) -> str:
        return f"piece {self.position} of run {self.run_id}"
