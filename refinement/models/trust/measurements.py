"""Measurements: a judge asked about many texts, to learn what its scores are worth."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.people.people import Project
from refinement.models.rubrics.bench import Bench
from refinement.models.rubrics.rubrics import RubricVersion
from refinement.models.runs.rounds import Round
from refinement.models.runs.runs import Run
from refinement.models.trust.labels import LabelItem, LabelSet


class MeasurementKind(models.TextChoices):
    RETEST = "retest", "Retest"  # each text several times
    PLANTED = "planted", "Planted defects"  # good texts and spoiled copies of them
    REPLAY = "replay", "Replay"  # stored rounds under another version or judge
    HELD_OUT = "held_out", "Held-out judge"


class MeasurementStatus(models.TextChoices):
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    FINISHED = "finished", "Finished"
    CANCELLED = "cancelled", "Stopped"


class Measurement(models.Model):
    """A rubric version, or a draft of one, and a judge that scores many texts. Each text is a bench.

    Its row is locked by whatever starts or ends its trials, before it locks any of them.
    """

    Kind, Status = MeasurementKind, MeasurementStatus

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="measurements")
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="measurements")
    kind = models.CharField(max_length=10, choices=MeasurementKind)
    status = models.CharField(max_length=10, choices=MeasurementStatus, default=MeasurementStatus.RUNNING)
    status_reason = models.CharField(max_length=400, blank=True)  # why it paused, such as the budget
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)  # also of a stopped one

    # A draft that was not saved as a version, as `engine.codec` writes it; null for the version.
    definition = models.JSONField(null=True, blank=True)
    definition_sha256 = models.CharField(max_length=64)  # of the draft or the version
    endpoint = models.CharField(max_length=400)
    model = models.CharField(max_length=200)
    panel = models.JSONField(default=list, blank=True)
    repeats = models.PositiveSmallIntegerField(default=1)  # of each text
    ask_again = models.BooleanField(default=False)  # even for what the same judge has answered before
    token_budget = models.PositiveBigIntegerField(null=True, blank=True)
    quote = models.JSONField(default=dict, blank=True)  # {calls, tokens, seconds_low, seconds_high}
    chosen = models.JSONField(default=dict, blank=True)  # how its texts were chosen, for the page
    label_set = models.ForeignKey(
        LabelSet, models.SET_NULL, null=True, blank=True, related_name="measurements"
    )
    run = models.ForeignKey(Run, models.CASCADE, null=True, blank=True, related_name="measurements")

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["project", "kind", "-id"], name="measurement_newest"),
            models.Index(fields=["rubric_version", "kind", "-id"], name="measurement_of_version"),
            models.Index(fields=["status"], name="measurement_by_status"),
        ]
        constraints: ClassVar = [
            # A run's held-out judge is asked once, however often its end is announced.
            models.UniqueConstraint(
                fields=["run"],
                condition=models.Q(kind=MeasurementKind.HELD_OUT),
                name="measurement_held_out_once",
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=MeasurementStatus.values), name="measurement_status_known"
            ),
            models.CheckConstraint(
                condition=models.Q(repeats__gte=1, repeats__lte=10), name="measurement_repeats_in_range"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    status__in=[MeasurementStatus.RUNNING, MeasurementStatus.PAUSED], finished_at__isnull=True
                )
                | models.Q(
                    status__in=[MeasurementStatus.FINISHED, MeasurementStatus.CANCELLED],
                    finished_at__isnull=False,
                ),
                name="measurement_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk}"

    @property
    def is_finished(self) -> bool:
        return self.finished_at is not None

    @property
    def is_draft(self) -> bool:
        return self.definition is not None


class MeasurementItem(models.Model):
    """A text of a measurement. Its judgements are the trials of its bench, created when it is started."""

    measurement = models.ForeignKey(Measurement, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()  # from 1, the order in which they are judged
    bench = models.OneToOneField(Bench, on_delete=models.CASCADE, related_name="measured")
    started = models.BooleanField(default=False)
    label_item = models.ForeignKey(
        LabelItem, models.SET_NULL, null=True, blank=True, related_name="measurement_items"
    )
    round = models.ForeignKey(Round, models.SET_NULL, null=True, blank=True, related_name="measurement_items")
    # Of a planted copy: the kind of edit, whether it is harmless, its original, and the affected criterion.
    edit = models.CharField(max_length=30, blank=True)
    harmless = models.BooleanField(default=False)
    original = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="copies")
    criterion = models.CharField(max_length=60, blank=True)
    change = models.TextField(blank=True)  # what was changed, in words

    class Meta:
        ordering: ClassVar = ["position"]
        indexes: ClassVar = [
            models.Index(fields=["measurement", "started", "position"], name="measurement_item_next")
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["measurement", "position"], name="measurement_item_position"),
        ]

    def __str__(self) -> str:
        return f"item {self.position} of measurement {self.measurement_id}"
