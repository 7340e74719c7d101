"""Stored reports of judges, for pages, the API and commands. Computes nothing."""

from collections.abc import Iterable
from typing import Any

from refinement.models import JudgeRecord, LabelSet, Report, ReportKind, ReportStatus
from refinement.selectors.experiments.reports.stored import FIELDS, NOTHING, StoredResults, stored


def stored_trust(record: JudgeRecord, label_set: LabelSet | None = None) -> StoredResults:
    """The judge's report, or the one over a label set only; one query."""
    return stored_report(ReportKind.TRUST, record.pk, 0 if label_set is None else label_set.pk)


def stored_judges(first: JudgeRecord, second: JudgeRecord) -> StoredResults:
    """The comparison of two judges; one query."""
    return stored_report(ReportKind.JUDGES, first.pk, second.pk)


def stored_report(kind: ReportKind, subject: int, other: int) -> StoredResults:
    row = Report.objects.filter(kind=kind, subject=subject, other=other).only(*FIELDS).first()
    return NOTHING if row is None else stored(row)


def pending_of(records: Iterable[int]) -> set[int]:
    """The judges for which a worker is about to compute figures; one query."""
    rows = Report.objects.filter(kind=ReportKind.TRUST, other=0, subject__in=list(records))
    pending = rows.exclude(status__in=[ReportStatus.DONE, ReportStatus.FAILED])
    return set(pending.values_list("subject", flat=True))


def criteria_of(records: Iterable[int]) -> dict[int, tuple[int, list[dict[str, Any]]]]:
    """Labels and the criteria's figures by judge; one query that reads only this part of the reports."""
    rows = Report.objects.filter(
        kind=ReportKind.TRUST, other=0, subject__in=list(records), result__isnull=False
    )
    found = rows.values_list("subject", "result__labels", "result__criteria")
    return {subject: (labels or 0, criteria or []) for subject, labels, criteria in found}
