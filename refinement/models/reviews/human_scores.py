"""People's scores on the judge's criteria, and blind scoring."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.runs.rounds import Round
from refinement.models.runs.runs import Run


class HumanScore(models.Model):
    """One person's scores of one round, stored as text to stay exact."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="human_scores")  # the round's
    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="human_scores")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="human_scores"
    )
    author_name = models.CharField(max_length=120)
    scores = models.JSONField()  # [{key, score, reason}], in rubric order
    composite = models.DecimalField(max_digits=14, decimal_places=6)
    note = models.TextField(blank=True)
    blind = models.BooleanField(default=False)  # given before seeing other scores
    submitted_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [models.Index(fields=["run", "id"], name="human_score_of_run")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "author"], name="human_score_one_a_person")
        ]

    def __str__(self) -> str:
        return f"{self.author_name}'s score of round {self.round_id}"


class BlindReading(models.Model):
    """While it is open, no response shows this person a score of the run, by the judge or by people.

    A person who opened the run's scores without scoring it has one that ended as it began, without a score.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="blind_readings")
    reader = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="blind_readings"
    )
    round_number = models.PositiveIntegerField()
    began_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    given_up = models.BooleanField(default=False)  # ended without a score

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "reader"],
                condition=models.Q(ended_at__isnull=True),
                name="blind_reading_one_open",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["reader", "run"],
                condition=models.Q(ended_at__isnull=True),
                name="blind_reading_open",
            )
        ]

    def __str__(self) -> str:
        return f"blind reading of run {self.run_id} by {self.reader_id}"
