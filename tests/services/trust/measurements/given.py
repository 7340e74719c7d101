"""Measurements in every state, and the steps of a worker."""

from typing import Any

from refinement.execution.trials.advancing import trial_advance
from refinement.models import BenchTrial, Measurement, MeasurementItem
from refinement.services.trust.measurements.creating import NewItem, measurement_create
from refinement.services.trust.measurements.dealing import measurement_advance
from tests.execution.trials.given import JUDGE, TASK, Table


def a_measurement(table: Table, *texts: str, **more: Any) -> Measurement:
    """A retest of these texts, with the fields in `more`."""
    values = {
        "project": table.project,
        "version": table.version,
        "kind": "retest",
        "judge": (JUDGE.endpoint, JUDGE.model, ()),
        "items": [NewItem(text, TASK) for text in texts],
        **more,
    }
    return measurement_create(**values)


def carried_out(measurement: Measurement) -> Measurement:
    """Makes all judgements that are due now, one after the other, as workers do."""
    going = True
    while going:
        measurement_advance(measurement.pk)
        trials = list(trials_of(measurement).filter(status="queued"))
        going = sum(trial_advance(trial.pk) for trial in trials) > 0
    measurement.refresh_from_db()
    return measurement


def trials_of(measurement: Measurement):
    rows = BenchTrial.objects.filter(bench__measured__measurement=measurement)
    return rows.order_by("bench__measured__position", "number", "seat")


def statuses(measurement: Measurement) -> dict[str, int]:
    found: dict[str, int] = {}
    for status in trials_of(measurement).values_list("status", flat=True):
        found[status] = found.get(status, 0) + 1
    return found


def started(measurement: Measurement) -> int:
    return MeasurementItem.objects.filter(measurement=measurement, started=True).count()
