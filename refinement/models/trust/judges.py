"""Judges: a rubric version with a model or a board, and what is known about its scores."""

from typing import ClassVar

from django.db import models

from refinement.models.people.people import Project
from refinement.models.rubrics.rubrics import RubricVersion


class JudgeRecord(models.Model):
    """What is known about one judge: a rubric version × a model or board.

    The figures are copied from its trust report, for lists, charts, gates and stop rules. All are empty until
    they are known. `execution/trust/` computes the report.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judge_records")
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="judge_records")
    # The model's name, or "board:" and a digest of the board's lenses and models. Endpoints do not count.
    key = models.CharField(max_length=200)
    name = models.CharField(max_length=200)  # shown: the model, or "Board of 3"
    # Where it was last called; empty for a judge that was only recorded elsewhere.
    endpoint = models.CharField(max_length=400, blank=True)
    model = models.CharField(max_length=200)
    panel = models.JSONField(default=list, blank=True)  # of a board, as a bench stores it
    created_at = models.DateTimeField(auto_now_add=True)

    computed_at = models.DateTimeField(null=True, blank=True)
    labels = models.PositiveIntegerField(default=0)  # texts that people and the judge scored
    # Of the composite: agreement with people, people's own agreement, and the smallest real difference
    # between two judgements.
    kappa = models.FloatField(null=True, blank=True)
    alpha = models.FloatField(null=True, blank=True)
    bias = models.FloatField(null=True, blank=True)
    smallest_difference = models.FloatField(null=True, blank=True)
    criteria_differences = models.JSONField(default=dict, blank=True)  # the same by criterion
    worse_than_people = models.BooleanField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["project", "-id"], name="judge_newest")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["rubric_version", "key"], name="judge_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.rubric_version} × {self.name}"

    @property
    def address(self) -> str:
        """As `endpoint/model`, or the model alone if it was never called here."""
        return f"{self.endpoint}/{self.model}" if self.endpoint else self.model

    @property
    def is_board(self) -> bool:
        return bool(self.panel)
