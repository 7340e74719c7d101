"""The ends and halts of an experiment that no person asked for. The caller holds its lock."""

from django.utils import timezone

from refinement.execution.reports import report_request
from refinement.models import Experiment, ExperimentStatus, ReportKind
from refinement.services.audit import audit_record


def experiment_finish(experiment: Experiment) -> None:
    """All runs have ended: the experiment is finished, and that is announced."""
    experiment.status, experiment.status_reason = ExperimentStatus.FINISHED, ""
    experiment.finished_at = timezone.now()
    experiment.save(update_fields=["status", "status_reason", "finished_at"])
    report_request(project=experiment.project, kind=ReportKind.EXPERIMENT, subject=experiment.pk)


def experiment_pause_itself(experiment: Experiment, reason: str) -> None:
    """No more runs are started; those under way end, as most of their cost is spent already."""
    experiment.status, experiment.status_reason = ExperimentStatus.PAUSED, reason[:400]
    experiment.save(update_fields=["status", "status_reason"])
    audit_record(
        action="experiment.pause",
        object_type="experiment",
        object_id=experiment.pk,
        project=experiment.project,
        actor="budget",
        after={"status": experiment.status, "reason": experiment.status_reason},
    )
