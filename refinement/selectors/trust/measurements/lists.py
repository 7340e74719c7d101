"""Measurements of a project, for lists and pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from refinement.models import (
    BenchTrial,
    Measurement,
    MeasurementItem,
    MeasurementKind,
    Project,
    TrialStatus,
)

A_PAGE = 30
LONG = (
    "definition", "rubric_version__background", "rubric_version__templates", "rubric_version__policy",
    "rubric_version__calibration_text", "rubric_version__search_space", "rubric_version__context",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """A measurement in a list, and how far it is."""

    row: Measurement
    texts: int
    ended: int
    failed: int

    @property
    def total(self) -> int:
        return self.texts * self.row.repeats * (len(self.row.panel) or 1)


def measurements_of(project: Project, *, kind: str = "", before: int | None = None) -> list[Line]:
    """Newest first. Three queries."""
    rows = Measurement.objects.filter(project=project).select_related("rubric_version__rubric", "created_by")
    if kind in MeasurementKind.values:
        rows = rows.filter(kind=kind)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    return lines_of(list(rows.defer(*LONG)[: A_PAGE + 1]))


def lines_of(rows: Sequence[Measurement]) -> list[Line]:
    keys = [row.pk for row in rows]
    items = MeasurementItem.objects.filter(measurement__in=keys).order_by()
    texts = dict(items.values_list("measurement").annotate(count=Count("pk")))
    trials = BenchTrial.objects.filter(bench__measured__measurement__in=keys).order_by()
    counts = trials.values_list("bench__measured__measurement").annotate(
        ended=Count("pk", filter=Q(status__in=[TrialStatus.DONE, TrialStatus.FAILED])),
        failed=Count("pk", filter=Q(status=TrialStatus.FAILED)),
    )
    by_row = {pk: (ended, failed) for pk, ended, failed in counts}
    return [Line(row, texts.get(row.pk, 0), *by_row.get(row.pk, (0, 0))) for row in rows]


def measurement_found(project: Project, number: int) -> Measurement | None:
    """The project's measurement with this number and its version."""
    rows = Measurement.objects.filter(project=project, pk=number)
    row = rows.select_related("rubric_version__rubric", "created_by", "label_set", "run").first()
    if row is not None:
        row.project = project
    return row


def measured_runs(measurement: Measurement) -> set[int]:
    """The runs whose rounds it judges."""
    items = MeasurementItem.objects.filter(measurement=measurement, round__isnull=False).order_by()
    return set(items.values_list("round__run", flat=True).distinct())
