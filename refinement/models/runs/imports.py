"""The origin of imported runs, and uploads until they are imported."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.people.people import Project
from refinement.models.runs.runs import Run


class RunImport(models.Model):
    """The origin of an imported run. The key is a hash of its content, so the same run is imported once."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="imported")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")  # the run's
    key = models.CharField(max_length=64)
    name = models.CharField(max_length=400)  # the file or folder, with the line in a file with several runs
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    by_name = models.CharField(max_length=120)
    at = models.DateTimeField(auto_now_add=True)
    # From the file: a name, not an account of this instance.
    launched_by = models.CharField(max_length=120, blank=True)
    launched_at = models.DateTimeField(null=True, blank=True)
    stated = models.JSONField(default=dict, blank=True)  # values from the file that are computed here
    kept = models.JSONField(default=dict, blank=True)  # values that an export of the run includes again

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "key"], name="run_import_once"),
            models.CheckConstraint(condition=~models.Q(key=""), name="run_import_has_key"),
        ]
        indexes: ClassVar = [models.Index(fields=["project", "name"], name="run_import_by_name")]

    def __str__(self) -> str:
        return f"import of run {self.run_id} from {self.name}"


class ImportBatch(models.Model):
    """An upload from its dry run until all runs are imported. Its files are then deleted."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="import_batches")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    report = models.JSONField(default=dict)
    weights = models.CharField(max_length=1000, blank=True)  # of dimensions, such as depth=.6,clarity=.4
    total = models.PositiveIntegerField(default=0)  # runs in the files, including those already imported
    done = models.PositiveIntegerField(default=0)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["created_at"], name="import_batch_oldest")]
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(done__lte=models.F("total")), name="import_batch_done")
        ]

    def __str__(self) -> str:
        return f"import {self.pk}: {self.done} of {self.total} runs"


class ImportFile(models.Model):
    """One file of an upload."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="files")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=400)
    data = models.BinaryField()

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["batch", "position"], name="import_file_unique")
        ]

    def __str__(self) -> str:
        return self.name
