"""What people do with a measurement: pause, resume, stop, delete.

Each locks the measurement first, then changes its trials; a trial's new attempt number keeps a worker that
still holds it from writing.
"""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from refinement.execution.leases import released
from refinement.execution.trust.waking import measurement_wake
from refinement.models import (
    Bench,
    BenchStatus,
    BenchTrial,
    JudgeRecord,
    Measurement,
    MeasurementItem,
    MeasurementStatus,
    Report,
    ReportKind,
    TrialStatus,
    User,
)
from refinement.models.leased import WorkStatus
from refinement.services.audit import audit_record
from refinement.services.runs.lifecycle import WrongState
from refinement.services.trust.judges import trust_refresh
from refinement.services.trust.measurements.creating import budget_checked
from refinement.services.trust.measurements.dealing import budget_reason
from refinement.services.trust.measurements.ending import figures_request, judge_of

Status = MeasurementStatus
FIELDS = ["status", "status_reason", "finished_at", "token_budget"]


@transaction.atomic
def measurement_pause(measurement: Measurement, user: User | None) -> Measurement:
    """Abort the calls in progress and start no more. Raises WrongState."""
    row = locked(measurement, [Status.RUNNING], "only a running one can be paused.")
    trials_cancel(row)
    return change(row, user, "pause", Status.PAUSED)


@transaction.atomic
def measurement_resume(
    measurement: Measurement, user: User | None, *, token_budget: int | None = None
) -> Measurement:
    """Continue a paused measurement. `token_budget` replaces its own. Raises WrongState, ValidationError."""
    row = locked(measurement, [Status.PAUSED], "only a paused one can be resumed.")
    if token_budget is not None:
        row.token_budget = budget_checked(token_budget)
    if reason := budget_reason(row):
        raise WrongState(f"{reason} Raise it to resume." if row.token_budget else reason)
    again = MeasurementItem.objects.filter(measurement=row, bench__trials__status=TrialStatus.CANCELLED)
    keys = list(again.order_by().distinct().values_list("pk", flat=True))
    MeasurementItem.objects.filter(pk__in=keys).update(started=False)
    return change(row, user, "resume", Status.RUNNING)


@transaction.atomic
def measurement_stop(measurement: Measurement, user: User | None) -> Measurement:
    """End it within a second; verdicts so far are kept, and counted. Raises WrongState."""
    row = locked(measurement, [Status.RUNNING, Status.PAUSED], "it cannot be stopped.")
    trials_cancel(row)
    benches = Bench.objects.filter(measured__measurement=row, status=BenchStatus.RUNNING)
    Bench.objects.filter(pk__in=list(benches.values_list("pk", flat=True))).update(
        status=BenchStatus.CANCELLED, finished_at=timezone.now()
    )
    row = change(row, user, "stop", Status.CANCELLED)
    figures_request(row)
    return row


@transaction.atomic
def measurement_delete(measurement: Measurement, user: User | None) -> None:
    """Delete an ended measurement with its verdicts. Raises WrongState if it has not ended."""
    row = locked(measurement, [Status.FINISHED, Status.CANCELLED], "stop it before deleting it.")
    judge: JudgeRecord | None = None if row.is_draft else judge_of(row)
    audit_record(
        action="measurement.delete",
        object_type="measurement",
        object_id=row.pk,
        project=row.project,
        user=user,
        before={"kind": row.kind, "rubric": str(row.rubric_version), "judge": row.model},
    )
    Report.objects.filter(kind=ReportKind.REPLAY, subject=row.pk).delete()
    Bench.objects.filter(pk__in=list(row.items.order_by().values_list("bench_id", flat=True))).delete()
    row.delete()
    if judge is not None:
        trust_refresh(judge)


def trials_cancel(row: Measurement) -> None:
    """Ends running trials. Resuming starts them again."""
    unfinished = BenchTrial.objects.filter(
        bench__measured__measurement=row, status__in=WorkStatus.values
    ).values_list("pk", flat=True)
    values: dict[str, Any] = released(
        status=TrialStatus.CANCELLED, finished_at=timezone.now(), attempt=F("attempt") + 1
    )
    BenchTrial.objects.filter(pk__in=list(unfinished), status__in=WorkStatus.values).update(**values)


def locked(measurement: Measurement, allowed: Collection[str], otherwise: str) -> Measurement:
    """The measurement's row until the transaction ends. Raises WrongState, which names its status."""
    rows = Measurement.objects.select_for_update(of=("self",)).select_related("project", "rubric_version")
    row = rows.get(pk=measurement.pk)
    if row.status not in allowed:
        state = Status(row.status).label.lower()
        raise WrongState(f"This {row.get_kind_display().lower()} is {state}; {otherwise}")
    return row


def change(row: Measurement, user: User | None, verb: str, status: str) -> Measurement:
    """Sets the status, records it and has a worker look."""
    before = row.status
    row.status, row.status_reason = status, ""
    row.finished_at = timezone.now() if status == Status.CANCELLED else None
    row.save(update_fields=FIELDS)
    audit_record(
        action=f"measurement.{verb}",
        object_type="measurement",
        object_id=row.pk,
        project=row.project,
        user=user,
        before={"status": before},
        after={"status": status},
    )
    measurement_wake(row.pk)
    return row
