"""Rubrics and their immutable versions."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from refinement.engine.types import EvaluationMode, ProblemClass, Severity
from refinement.models.people.people import Project

INITIAL_NOTE = "Created with the project."  # of the versions that nobody made or edited


class Immutable(models.Model):
    """Rows that are written once. Database triggers prevent updates too (see the migration)."""

    class Meta:
        abstract = True

    def save(self, **options: Any) -> None:
        if not self._state.adding:
            raise ImmutableRow(f"{self} cannot be changed; save a new one instead.")
        super().save(**options)


class ImmutableRow(Exception):
    """An attempt to change an immutable row."""


class Rubric(models.Model):
    """A named judge configuration. Its content is in its versions."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rubrics")
    slug = models.SlugField(max_length=80)
    name = models.CharField(max_length=160)
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["name", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "slug"], name="rubric_slug_unique_in_project")
        ]

    def __str__(self) -> str:
        return self.name


class RubricVersion(Immutable):
    """One saved state of a rubric. Criteria and checks have their own tables."""

    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    note = models.CharField(max_length=400, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)

    name = models.CharField(max_length=160)
    profile = models.CharField(max_length=20)
    purpose = models.TextField(blank=True)
    artifact_type = models.CharField(max_length=40, blank=True)
    problem_class = models.CharField(max_length=20, choices=[(c.value, c.value) for c in ProblemClass])
    evaluation_mode = models.CharField(max_length=20, choices=[(m.value, m.value) for m in EvaluationMode])
    evaluator = models.JSONField(null=True, blank=True)  # command and options; NULL without an evaluator
    scale_minimum = models.DecimalField(max_digits=9, decimal_places=4)
    scale_maximum = models.DecimalField(max_digits=9, decimal_places=4)
    scale_step = models.DecimalField(max_digits=9, decimal_places=4, null=True, blank=True)
    policy = models.JSONField()
    context = models.JSONField()
    judges = models.JSONField(default=dict, blank=True)  # mode, panel, deliberation, clerk
    background = models.TextField(blank=True)
    output_contract = models.TextField(blank=True)
    output_schema = models.JSONField(default=dict, blank=True)
    output_pattern = models.TextField(blank=True)
    search_space = models.TextField(blank=True)
    templates = models.JSONField(default=dict, blank=True)
    calibration_text = models.TextField(blank=True)
    calibration_scores = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["rubric", "number"], name="rubric_version_unique"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="rubric_version_from_one"),
            models.CheckConstraint(
                condition=models.Q(scale_minimum__lt=models.F("scale_maximum")), name="scale_has_a_range"
            ),
            models.CheckConstraint(
                condition=models.Q(scale_step__isnull=True) | models.Q(scale_step__gt=0),
                name="scale_step_positive",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} @ v{self.number}"


class Criterion(Immutable):
    """What the judge scores."""

    version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="criteria")
    position = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=60)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    ideal = models.TextField(blank=True)
    weight = models.DecimalField(max_digits=9, decimal_places=4)
    primary = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["version", "key"], name="criterion_key_unique"),
            models.UniqueConstraint(fields=["version", "position"], name="criterion_position_unique"),
            models.UniqueConstraint(
                fields=["version"], condition=models.Q(primary=True), name="criterion_one_primary"
            ),
            models.CheckConstraint(condition=models.Q(weight__gt=0), name="criterion_weight_positive"),
        ]

    def __str__(self) -> str:
        return self.name


class Check(Immutable):
    """A deterministic assertion on the candidate."""

    version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="checks")
    position = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=60)
    kind = models.CharField(max_length=30)
    parameters = models.JSONField(default=dict, blank=True)
    severity = models.CharField(max_length=10, choices=[(s.value, s.value) for s in Severity])
    weight = models.DecimalField(max_digits=9, decimal_places=4)
    suggestion = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["version", "key"], name="check_key_unique"),
            models.UniqueConstraint(fields=["version", "position"], name="check_position_unique"),
            models.CheckConstraint(condition=models.Q(weight__gt=0), name="check_weight_positive"),
        ]

    def __str__(self) -> str:
        return self.key
