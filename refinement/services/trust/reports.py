"""Asks for reports of judges. Workers compute them, see `execution/reports.py`."""

from refinement.execution.reports import report_request
from refinement.models import JudgeRecord, LabelSet, ReportKind
from refinement.selectors.experiments.reports.stored import StoredResults
from refinement.selectors.trust.stored import stored_judges, stored_trust


def trust_wanted(record: JudgeRecord, label_set: LabelSet | None = None) -> StoredResults:
    """The stored report; a worker is asked to compute it if it never was, or if the judge's own is newer."""
    found = stored_trust(record, label_set)
    if found.status and (label_set is None or found.is_pending or not outdated(found, record)):
        return found
    return trust_requested(record, label_set)


def trust_requested(record: JudgeRecord, label_set: LabelSet | None = None) -> StoredResults:
    """Has a worker compute the report again."""
    other = 0 if label_set is None else label_set.pk
    report_request(project=record.project, kind=ReportKind.TRUST, subject=record.pk, other=other)
    return stored_trust(record, label_set)


def judges_wanted(first: JudgeRecord, second: JudgeRecord) -> StoredResults:
    """The stored comparison; a worker is asked if there is none, or if either judge's report is newer."""
    found = stored_judges(first, second)
    if found.status and (found.is_pending or not outdated(found, first, second)):
        return found
    report_request(project=first.project, kind=ReportKind.JUDGES, subject=first.pk, other=second.pk)
    return stored_judges(first, second)


def outdated(found: StoredResults, *records: JudgeRecord) -> bool:
    """Whether a judge's own report was computed after these figures."""
    changes = [record.computed_at for record in records if record.computed_at is not None]
    return found.computed_at is not None and any(change > found.computed_at for change in changes)
