"""The ends and halts of a measurement that no person asked for. The caller holds its lock."""

from django.utils import timezone

from refinement.execution.reports import report_request
from refinement.models import JudgeRecord, Measurement, MeasurementKind, MeasurementStatus, ReportKind
from refinement.services.audit import audit_record
from refinement.services.trust.judges import judge_ensure, trust_refresh


def measurement_finish(measurement: Measurement) -> None:
    """All judgements have ended: the measurement is finished, and figures are computed from it."""
    measurement.status, measurement.status_reason = MeasurementStatus.FINISHED, ""
    measurement.finished_at = timezone.now()
    measurement.save(update_fields=["status", "status_reason", "finished_at"])
    figures_request(measurement)


def figures_request(measurement: Measurement) -> None:
    """Has workers compute what this measurement changes: its own results, and what is known of its judge.

    A draft is no judge that anybody uses, so nothing is known of it but its replay.
    """
    if measurement.kind == MeasurementKind.REPLAY:
        report_request(project=measurement.project, kind=ReportKind.REPLAY, subject=measurement.pk)
    if not measurement.is_draft:
        trust_refresh(judge_of(measurement))


def judge_of(measurement: Measurement) -> JudgeRecord:
    """The record of the judge that is measured."""
    return judge_ensure(
        project=measurement.project,
        version=measurement.rubric_version,
        model=measurement.model,
        endpoint=measurement.endpoint,
        panel=measurement.panel,
    )


def measurement_pause_itself(measurement: Measurement, reason: str) -> None:
    """No more judgements are started. Running ones end normally, as most of their cost is already spent."""
    measurement.status, measurement.status_reason = MeasurementStatus.PAUSED, reason[:400]
    measurement.save(update_fields=["status", "status_reason"])
    audit_record(
        action="measurement.pause",
        object_type="measurement",
        object_id=measurement.pk,
        project=measurement.project,
        actor="budget",
        after={"status": measurement.status, "reason": measurement.status_reason},
    )
