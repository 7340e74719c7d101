"""What became of feedback: corrections by people to what the ledger concludes."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.runs.runs import Run


class FeedbackFate(models.TextChoices):
    """What became of an issue or a suggested change."""

    ADDRESSED = "addressed", "Addressed"
    OPEN = "open", "Still open"
    CAME_BACK = "came_back", "Came back"
    WORSE = "worse", "Made worse"
    OVERTAKEN = "overtaken", "Overtaken"


class FeedbackKind(models.TextChoices):
    ISSUE = "issue", "Issue"
    SUGGESTION = "suggestion", "Suggested change"
    IMPROVEMENT = "improvement", "Improvement"


class FeedbackCorrection(models.Model):
    """A person's word on what became of one piece of feedback. It replaces the computed one."""

    Fate, Kind = FeedbackFate, FeedbackKind

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="feedback_corrections")
    round_number = models.PositiveIntegerField()  # whose judge gave the feedback
    kind = models.CharField(max_length=12, choices=FeedbackKind)
    position = models.PositiveSmallIntegerField(default=0)  # among the round's feedback of this kind
    fate = models.CharField(max_length=12, choices=FeedbackFate)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    author_name = models.CharField(max_length=120)
    corrected_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "round_number", "kind", "position"], name="feedback_correction_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(fate__in=FeedbackFate.values), name="feedback_fate_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.fate}: {self.kind} {self.position} of round {self.round_number}"
