"""Asks for the figures of experiments. Workers compute them, see `execution/reports.py`."""

from django.db.models import Q

from refinement.execution.reports import report_request
from refinement.models import Experiment, JudgeRecord, LabelSet, Measurement, Report, ReportKind
from refinement.selectors.experiments.reports.stored import (
    StoredResults,
    stored_comparison,
    stored_of,
    stored_results,
)

CLEANED_AT_ONCE = 500


def results_wanted(experiment: Experiment) -> StoredResults:
    """The stored results; a worker is asked to compute them if it never was, or if rules changed since."""
    found = stored_results(experiment)
    if found.status and (found.is_current or found.is_pending or found.result is None):
        return found
    report_request(project=experiment.project, kind=ReportKind.EXPERIMENT, subject=experiment.pk)
    return stored_results(experiment)


def comparison_wanted(experiment: Experiment, other: Experiment) -> StoredResults:
    """The stored comparison; a worker is asked if there is none or it is out of date."""
    found = stored_comparison(experiment, other)
    changes = [
        report.computed_at
        for report in stored_of([experiment.pk, other.pk]).values()
        if report.computed_at is not None
    ]
    outdated = found.computed_at is not None and any(change > found.computed_at for change in changes)
    if found.status and (found.is_pending or not (outdated or found.is_outdated)):
        return found
    report_request(
        project=experiment.project, kind=ReportKind.COMPARISON, subject=experiment.pk, other=other.pk
    )
    return stored_comparison(experiment, other)


def reports_clean() -> int:
    """Delete reports of what was deleted, some at a time; how many there were."""
    experiments, judges = Experiment.objects.values("pk"), JudgeRecord.objects.values("pk")
    label_sets, measurements = LabelSet.objects.values("pk"), Measurement.objects.values("pk")
    # By kind: what it is about, and what that is compared with.
    subjects = {
        ReportKind.EXPERIMENT: (experiments, experiments),
        ReportKind.COMPARISON: (experiments, experiments),
        ReportKind.TRUST: (judges, label_sets),
        ReportKind.JUDGES: (judges, judges),
        ReportKind.REPLAY: (measurements, measurements),
    }
    gone = Q()
    for kind, (subject, other) in subjects.items():
        gone |= Q(kind=kind) & (~Q(subject__in=subject) | (~Q(other=0) & ~Q(other__in=other)))
    keys = list(Report.objects.filter(gone).order_by("pk").values_list("pk", flat=True)[:CLEANED_AT_ONCE])
    Report.objects.filter(pk__in=keys).delete()
    return len(keys)
