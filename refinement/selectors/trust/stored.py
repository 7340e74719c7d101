"""Stored reports of judges, for pages, the API and commands. Computes nothing."""

from refinement.models import JudgeRecord, LabelSet, Report, ReportKind
from refinement.selectors.experiments.stored import FIELDS, NOTHING, StoredResults, stored


def stored_trust(record: JudgeRecord, label_set: LabelSet | None = None) -> StoredResults:
    """The judge's report, or the one over a label set only; one query."""
    return stored_report(ReportKind.TRUST, record.pk, 0 if label_set is None else label_set.pk)


def stored_judges(first: JudgeRecord, second: JudgeRecord) -> StoredResults:
    """The comparison of two judges; one query."""
    return stored_report(ReportKind.JUDGES, first.pk, second.pk)


def stored_report(kind: ReportKind, subject: int, other: int) -> StoredResults:
    row = Report.objects.filter(kind=kind, subject=subject, other=other).only(*FIELDS).first()
    return NOTHING if row is None else stored(row)
