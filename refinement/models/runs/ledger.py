"""What became of feedback: what code concludes about a run, and corrections by people."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.rubrics.rubrics import Rubric
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


class RunLedger(models.Model):
    """What became of a run's feedback, and how its text grew. Derived from its rounds by pure code.

    It covers the first `covers` judged rounds; a page computes it again if the run has more. The counts
    include people's corrections, and are summed for the rubric's page.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="ledger")
    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, related_name="+")  # the run's
    covers = models.PositiveIntegerField()
    # Suggested changes that a revision was asked for, those that were followed, and those of them whose
    # revision scored higher; then the same for all feedback.
    suggestions = models.PositiveIntegerField(default=0)
    suggestions_followed = models.PositiveIntegerField(default=0)
    suggestions_raised = models.PositiveIntegerField(default=0)
    items = models.PositiveIntegerField(default=0)
    items_followed = models.PositiveIntegerField(default=0)
    items_raised = models.PositiveIntegerField(default=0)
    entries = models.JSONField(default=list)  # as `refinement.ledger` writes them
    growth = models.JSONField(default=dict)  # length and the rubric's words in the text

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=[
                    *("rubric", "-run", "suggestions", "suggestions_followed", "suggestions_raised"),
                    *("items", "items_followed", "items_raised"),
                ],
                name="ledger_of_rubric",
            )
        ]

    def __str__(self) -> str:
        return f"ledger of run {self.pk}"
