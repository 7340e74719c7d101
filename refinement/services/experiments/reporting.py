"""Asks for the figures of experiments. Workers compute them, see `execution/reports.py`."""

from django.db.models import Q

from refinement.execution.reports import report_request
from refinement.models import Experiment, Report, ReportKind
from refinement.selectors.experiments.stored import (
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
    """The stored comparison; a worker is asked if there is none, or if either experiment changed since."""
    found = stored_comparison(experiment, other)
    changes = [
        report.computed_at
        for report in stored_of([experiment.pk, other.pk]).values()
        if report.computed_at is not None
    ]
    outdated = found.computed_at is not None and any(change > found.computed_at for change in changes)
    if found.status and (found.is_pending or not outdated):
        return found
    report_request(
        project=experiment.project, kind=ReportKind.COMPARISON, subject=experiment.pk, other=other.pk
    )
    return stored_comparison(experiment, other)


def reports_clean() -> int:
    """Delete reports of experiments that were deleted, some at a time; how many there were."""
    there = Experiment.objects.values("pk")
    reports = Report.objects.filter(kind__in=[ReportKind.EXPERIMENT, ReportKind.COMPARISON])
    gone = reports.filter(~Q(subject__in=there) | (~Q(other=0) & ~Q(other__in=there)))
    keys = list(gone.order_by("pk").values_list("pk", flat=True)[:CLEANED_AT_ONCE])
    Report.objects.filter(pk__in=keys).delete()
    return len(keys)
