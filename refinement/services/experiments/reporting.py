"""Asks for the figures of experiments. Workers compute them, see `execution/reports.py`."""

from refinement.execution.reports import report_request
from refinement.models import Experiment, ReportKind
from refinement.selectors.experiments.stored import (
    StoredResults,
    stored_comparison,
    stored_of,
    stored_results,
)


def results_wanted(experiment: Experiment) -> StoredResults:
    """The stored results; a worker is asked to compute them if it never was."""
    found = stored_results(experiment)
    if found.status:
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
