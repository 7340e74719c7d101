"""The ends and halts of an experiment that no person asked for. The caller holds its lock."""

from django.utils import timezone

from refinement.execution.reports import report_request
from refinement.models import Experiment, ExperimentStatus, ReportKind
from refinement.selectors.experiments.progress import Progress, progress_of
from refinement.services.audit import audit_record
from refinement.services.notices.creating import notice_experiment
from refinement.services.webhooks.events import hook_experiment_finished


def experiment_finish(experiment: Experiment) -> None:
    """All runs have ended: the experiment is finished, and that is announced."""
    experiment.status, experiment.status_reason = ExperimentStatus.FINISHED, ""
    experiment.finished_at = timezone.now()
    experiment.save(update_fields=["status", "status_reason", "finished_at"])
    hook_experiment_finished(experiment)
    notice_experiment(experiment, finished_words(progress_of(experiment)))
    report_request(
        project=experiment.project, kind=ReportKind.EXPERIMENT, subject=experiment.pk, at_once=True
    )


def finished_words(progress: Progress) -> str:
    runs = f"{progress.total:,} run{'' if progress.total == 1 else 's'}"
    if not progress.without_result:
        return f"finished: {runs}."
    return f"finished: {progress.without_result:,} of {runs} without a result."


def experiment_pause_itself(experiment: Experiment, reason: str) -> None:
    """No more runs are started. Running ones end normally, as most of their cost is already spent."""
    experiment.status, experiment.status_reason = ExperimentStatus.PAUSED, reason[:400]
    experiment.save(update_fields=["status", "status_reason"])
    notice_experiment(experiment, f"is paused. {reason}")
    audit_record(
        action="experiment.pause",
        object_type="experiment",
        object_id=experiment.pk,
        project=experiment.project,
        actor="budget",
        after={"status": experiment.status, "reason": experiment.status_reason},
    )
