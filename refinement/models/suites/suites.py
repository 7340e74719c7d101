"""Suites: named, versioned sets of tasks that experiments run."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.people.people import Project
from refinement.models.rubrics.rubrics import Immutable
from refinement.models.runs.runs import TASK_TYPE_CHARS, TITLE_CHARS, Run


class Suite(models.Model):
    """A named set of tasks. Its content is in its versions."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="suites")
    slug = models.SlugField(max_length=80)
    name = models.CharField(max_length=160)
    description = models.TextField(blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["name", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "slug"], name="suite_slug_unique_in_project")
        ]

    def __str__(self) -> str:
        return self.name


class SuiteVersion(Immutable):
    """One saved state of a suite. Experiments pin one."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    note = models.CharField(max_length=400, blank=True)
    task_count = models.PositiveIntegerField(default=0)  # for lists
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["suite", "number"], name="suite_version_unique"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="suite_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.suite.name} @ v{self.number}"


class SuiteTask(Immutable):
    """A task of a suite version. `key` identifies it across versions and experiments."""

    version = models.ForeignKey(SuiteVersion, on_delete=models.CASCADE, related_name="tasks")
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=80)
    title = models.CharField(max_length=TITLE_CHARS)
    task_type = models.CharField(max_length=TASK_TYPE_CHARS, blank=True)
    tags = models.JSONField(default=list, blank=True)
    # Added to the rubric's checks: [{key, kind, parameters, severity, weight, suggestion}].
    checks = models.JSONField(default=list, blank=True)
    sources = models.JSONField(default=list, blank=True)  # [{name, text}]
    expected = models.TextField(blank=True)  # notes for people on what a good result has
    # The run that it was made from; forgotten when that run is deleted.
    from_run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="+")
    task = models.TextField()
    seed = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["version", "key"], name="suite_task_key_unique"),
            models.UniqueConstraint(fields=["version", "position"], name="suite_task_position_unique"),
            models.CheckConstraint(
                condition=~models.Q(key="") & ~models.Q(task=""), name="suite_task_not_empty"
            ),
        ]

    def __str__(self) -> str:
        return self.key
