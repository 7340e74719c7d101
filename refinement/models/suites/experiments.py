"""Experiments: a suite run under several configurations, with repeats."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from refinement.models.people.people import Project
from refinement.models.rubrics.rubrics import RubricVersion
from refinement.models.runs.runs import Run
from refinement.models.suites.suites import SuiteTask, SuiteVersion


class ExperimentStatus(models.TextChoices):
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    FINISHED = "finished", "Finished"
    CANCELLED = "cancelled", "Stopped"


class Experiment(models.Model):
    """A suite version × configurations × repeats. Each combination is an `ExperimentRun`.

    Its row is locked by whatever starts, pauses or stops its runs, before it locks any of them.
    """

    Status = ExperimentStatus

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="experiments")
    suite_version = models.ForeignKey(SuiteVersion, on_delete=models.PROTECT, related_name="experiments")
    name = models.CharField(max_length=160)
    note = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)  # also of a stopped one
    status = models.CharField(max_length=10, choices=ExperimentStatus, default=ExperimentStatus.RUNNING)
    status_reason = models.CharField(max_length=400, blank=True)  # why it paused itself, such as the budget
    repeats = models.PositiveSmallIntegerField(default=1)
    token_budget = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["project", "-id"], name="experiment_newest"),
            models.Index(fields=["status"], name="experiment_by_status"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(status__in=ExperimentStatus.values), name="experiment_status_known"
            ),
            models.CheckConstraint(
                condition=models.Q(repeats__gte=1, repeats__lte=20), name="experiment_repeats_in_range"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    status__in=[ExperimentStatus.RUNNING, ExperimentStatus.PAUSED], finished_at__isnull=True
                )
                | models.Q(
                    status__in=[ExperimentStatus.FINISHED, ExperimentStatus.CANCELLED],
                    finished_at__isnull=False,
                ),
                name="experiment_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_finished(self) -> bool:
        return self.finished_at is not None


class Configuration(models.Model):
    """What an experiment compares: a rubric version with changes, and the models."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="configurations")
    position = models.PositiveSmallIntegerField()  # from 1; shown as a letter
    name = models.CharField(max_length=80)
    baseline = models.BooleanField(default=False)
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="configurations")
    # Changes to the rubric for its runs by dotted path, as `engine.codec.rubric_with` takes them.
    changes = models.JSONField(default=dict, blank=True)
    sources = models.JSONField(default=list, blank=True)  # [{name, text}], added to each task's
    producer_endpoint = models.CharField(max_length=400)
    producer_model = models.CharField(max_length=200)
    judge_endpoint = models.CharField(max_length=400)
    judge_model = models.CharField(max_length=200)
    clerk_endpoint = models.CharField(max_length=400, blank=True)
    clerk_model = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["experiment", "position"], name="configuration_position_unique"),
            models.UniqueConstraint(fields=["experiment", "name"], name="configuration_name_unique"),
            models.UniqueConstraint(
                fields=["experiment"], condition=models.Q(baseline=True), name="configuration_one_baseline"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def letter(self) -> str:
        return chr(ord("A") + self.position - 1) if self.position <= 26 else str(self.position)


class CellState(models.TextChoices):
    WAITING = "waiting", "Not started"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    UNSCORED = "unscored", "Unscored"
    ERROR = "error", "Error"
    CANCELLED = "cancelled", "Stopped"


def without_run(collector: Any, field: Any, cells: Any, using: str) -> None:
    """Marks the cells of deleted runs, so that their tasks can be run again."""
    values = {"state": CellState.CANCELLED, "problem": "Its run was deleted."}
    for name, value in values.items():
        collector.add_field_update(field.model._meta.get_field(name), value, cells)
    models.SET_NULL(collector, field, cells, using)


class ExperimentRun(models.Model):
    """One repeat of a task under a configuration, with its run and, once that has ended, its figures.

    A retry replaces it by a new row; the old one stays with its run and counts no more.
    """

    State = CellState

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="runs")
    configuration = models.ForeignKey(Configuration, on_delete=models.CASCADE, related_name="runs")
    task = models.ForeignKey(SuiteTask, on_delete=models.PROTECT, related_name="experiment_runs")
    repeat = models.PositiveSmallIntegerField()  # from 1
    # In which runs are started: repeat by repeat, then task by task, each under all configurations.
    order = models.PositiveIntegerField()
    replaced = models.BooleanField(default=False)
    run = models.OneToOneField(
        Run, without_run, null=True, blank=True, related_name="experiment_run"
    )  # null until it is started
    state = models.CharField(max_length=10, choices=CellState, default=CellState.WAITING)
    problem = models.CharField(max_length=400, blank=True)  # of an error, or why it could not be started

    # Scores from 0 to 10, whatever the rubric's scale.
    r1 = models.DecimalField(max_digits=9, decimal_places=6, null=True, blank=True)
    best = models.DecimalField(max_digits=9, decimal_places=6, null=True, blank=True)
    # Checks and criteria of the best round, and how many of them were met.
    criteria_met = models.PositiveIntegerField(default=0)
    criteria_total = models.PositiveIntegerField(default=0)
    passed = models.BooleanField(default=False)
    rounds = models.PositiveIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    seconds = models.DecimalField(max_digits=14, decimal_places=3, default=0)
    cost = models.DecimalField(max_digits=16, decimal_places=8, null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["order", "id"]
        indexes: ClassVar = [
            models.Index(fields=["experiment", "replaced", "state", "order"], name="experiment_run_next"),
            models.Index(fields=["state"], name="experiment_run_by_state"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["configuration", "task", "repeat"],
                condition=models.Q(replaced=False),
                name="experiment_run_unique",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=CellState.values), name="experiment_run_state_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(state=CellState.DONE) | models.Q(r1__isnull=False),
                name="experiment_run_done_has_score",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task_id} × {self.configuration_id}, repeat {self.repeat}"
