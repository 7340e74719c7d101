"""Stored reports of experiments, for pages and the API. Computes nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from refinement.models import Experiment, Report, ReportKind, ReportStatus


@dataclass(frozen=True, slots=True)
class StoredResults:
    """The last computed figures, and whether newer runs are missing in them."""

    status: str  # a report's status, or "" if none was requested
    result: dict[str, Any] | None
    computed_at: datetime | None
    is_current: bool
    error: str
    is_outdated: bool = False  # computed by an earlier version of Wiggum, by other rules

    @property
    def is_pending(self) -> bool:
        """Whether a worker is about to compute newer figures."""
        return self.status in (ReportStatus.QUEUED, ReportStatus.RUNNING, ReportStatus.WAITING)


SCHEMA = 5  # of reports of experiments; those of earlier ones are computed again when somebody looks
VERSIONED = (ReportKind.EXPERIMENT, ReportKind.COMPARISON)
FIELDS = ("subject", "kind", "status", "result", "computed_at", "computed", "asked", "error")
NOTHING = StoredResults("", None, None, False, "")


def stored_results(experiment: Experiment) -> StoredResults:
    """The experiment's report; one query."""
    return stored_of([experiment.pk]).get(experiment.pk, NOTHING)


def stored_of(experiments: Iterable[int]) -> dict[int, StoredResults]:
    """The reports of several experiments by their primary keys; one query."""
    rows = Report.objects.filter(kind=ReportKind.EXPERIMENT, other=0, subject__in=list(experiments))
    return {row.subject: stored(row) for row in rows.only(*FIELDS)}


def stored_comparison(experiment: Experiment, other: Experiment) -> StoredResults:
    """The comparison of two experiments, see `comparisons.py`; one query."""
    rows = Report.objects.filter(kind=ReportKind.COMPARISON, subject=experiment.pk, other=other.pk)
    row = rows.only(*FIELDS).first()
    return NOTHING if row is None else stored(row)


def stored(row: Report) -> StoredResults:
    outdated = is_outdated(row)
    is_current = row.is_current and not outdated
    return StoredResults(row.status, row.result, row.computed_at, is_current, row.error, outdated)


def is_outdated(row: Report) -> bool:
    """Whether an earlier version of Wiggum computed it, by other rules."""
    is_report = row.kind in VERSIONED and row.result is not None
    return is_report and (row.result or {}).get("schema") != SCHEMA
