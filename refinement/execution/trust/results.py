"""Results beside those of labels: planted defects and usable replies. A judge without a row has none."""

from collections.abc import Mapping
from typing import Any

from refinement.execution.trust.planted import planted_results
from refinement.execution.trust.usability import usable_replies
from refinement.models import JudgeRecord
from refinement.statistics.agreement.judges import JudgeFigures


def planted(record: JudgeRecord, figures: Mapping[str, JudgeFigures]) -> dict[str, Any] | None:
    """`figures` are the judge's by criterion and for the composite: they say what is noise."""
    differences = {key: found["smallest_difference"] for key, found in figures.items()}
    known = {key: found.value for key, found in differences.items() if found}
    return planted_results(record, known) if record.pk else None


def usable(record: JudgeRecord) -> dict[str, Any] | None:
    return usable_replies(record) if record.pk else None
