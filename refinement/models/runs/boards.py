"""Boards: a run's panel of judges, and each judge's answers in a round."""

from typing import ClassVar

from django.db import models

from refinement.engine.panels import LENS_CHARS, NAME_CHARS
from refinement.models.runs.rounds import Round
from refinement.models.runs.runs import Run


class PanelJudge(models.Model):
    """A judge of a run's board. The rubric names it, or the clerk composes it once per run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="panel")
    seat = models.PositiveSmallIntegerField()  # from 1
    name = models.CharField(max_length=NAME_CHARS)
    lens = models.CharField(max_length=LENS_CHARS)
    endpoint = models.CharField(max_length=400)
    model = models.CharField(max_length=200)
    by_clerk = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["seat"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "seat"], name="panel_judge_unique_in_run"),
            models.CheckConstraint(condition=models.Q(seat__gte=1), name="panel_seat_from_one"),
        ]

    def __str__(self) -> str:
        return self.name


class BoardVerdict(models.Model):
    """One judge's answers in a round, stored as they arrive. The merged verdict is the round's `Verdict`."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="board")
    judge = models.ForeignKey(PanelJudge, on_delete=models.CASCADE, related_name="verdicts")
    seat = models.PositiveSmallIntegerField()  # the judge's
    scores = models.JSONField(default=list)  # [{key, score, reasoning, improvement}]; empty if unreadable
    issues = models.JSONField(default=list, blank=True)
    asi = models.TextField(blank=True)
    contract_violation = models.TextField(blank=True)
    problem = models.TextField(blank=True)  # why its reply could not be read
    seen_chars = models.PositiveIntegerField(null=True, blank=True)
    scored_at = models.DateTimeField(auto_now_add=True)
    # [{key, stance, score, reasoning}] after the deliberation; empty if that reply could not be read.
    stances = models.JSONField(null=True, blank=True)
    stances_problem = models.TextField(blank=True)
    deliberated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["seat"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "seat"], name="board_verdict_unique_in_round"),
        ]

    def __str__(self) -> str:
        return f"seat {self.seat} in round {self.round_id}"
