"""Rounds: a candidate with its verdicts, check results and composite."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.engine.types import Severity
from refinement.models.runs.runs import Run


class RoundOrigin(models.TextChoices):
    SEED = "seed", "Starting text"
    DRAFT = "draft", "First draft"
    REVISION = "revision", "Revision"
    HAND = "hand", "Edited by hand"
    ABSENT = "absent", "Text not in the file"  # imported runs only


class Round(models.Model):
    """A candidate and its assessment. `composite` is empty until it is judged: unscored is not zero."""

    Origin = RoundOrigin

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    origin = models.CharField(max_length=10, choices=RoundOrigin)
    base_round = models.PositiveIntegerField(null=True, blank=True)
    # Who edited the candidate by hand.
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    author_name = models.CharField(max_length=120, null=True, blank=True)
    candidate_chars = models.PositiveIntegerField()
    candidate_cut = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    judged_at = models.DateTimeField(null=True, blank=True)
    composite = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    scores = models.JSONField(null=True, blank=True)
    penalties = models.JSONField(default=list, blank=True)
    contract_violation = models.TextField(blank=True)  # why; empty if the contract is met
    signals = models.JSONField(default=list, blank=True)
    seen_chars = models.PositiveIntegerField(null=True, blank=True)
    judge_attempts = models.PositiveSmallIntegerField(default=0)
    parse_rung = models.CharField(max_length=30, blank=True)
    # What the round changed, as the clerk names it; null if it was not asked.
    key_change = models.CharField(max_length=60, null=True, blank=True)
    # Of a board's round: how far apart the judges' scores are by criterion, and the clerk's summary
    # {working, not_working, direction, problem}.
    spread = models.JSONField(null=True, blank=True)
    summary = models.JSONField(null=True, blank=True)
    # Last: SQLite reads a row from its start, and most queries need only the numbers.
    feedback = models.JSONField(null=True, blank=True)
    candidate = models.TextField()

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "number"], name="round_unique_in_run"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="round_from_one"),
            models.CheckConstraint(
                condition=models.Q(candidate_chars__gte=1) | models.Q(origin=RoundOrigin.ABSENT),
                name="round_candidate_not_empty",
            ),
            models.CheckConstraint(
                condition=models.Q(judged_at__isnull=True, composite__isnull=True, scores__isnull=True)
                | models.Q(judged_at__isnull=False, composite__isnull=False, scores__isnull=False),
                name="round_judged_has_composite",
            ),
        ]

    def __str__(self) -> str:
        return f"round {self.number} of run {self.run_id}"

    @property
    def contract_violated(self) -> bool:
        return bool(self.contract_violation)


class Verdict(models.Model):
    """One judge's assessment, before penalties. Scores are stored as text to stay exact."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="verdicts")
    position = models.PositiveSmallIntegerField(default=0)
    judge = models.CharField(max_length=200)
    scores = models.JSONField()  # [{key, score, reasoning, improvement}], in rubric order
    issues = models.JSONField(default=list, blank=True)
    asi = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "position"], name="verdict_unique_in_round")
        ]

    def __str__(self) -> str:
        return f"verdict of {self.judge}"


class CheckResult(models.Model):
    """The result of one check, and its position in the text."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="check_results")
    position = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=60)
    passed = models.BooleanField()
    message = models.TextField(blank=True)
    severity = models.CharField(max_length=10, choices=[(s.value, s.value) for s in Severity])
    weight = models.DecimalField(max_digits=9, decimal_places=4)
    suggestion = models.TextField(blank=True)
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    score = models.DecimalField(max_digits=7, decimal_places=6, null=True, blank=True)
    expected = models.TextField(blank=True)
    actual = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "key"], name="check_result_unique_in_round")
        ]

    def __str__(self) -> str:
        return f"{self.key}: {'passed' if self.passed else 'failed'}"
