"""Copies a judge's figures from its report to its row, for lists, charts, gates and stop rules."""

from datetime import datetime
from typing import Any

from refinement.models import JudgeRecord


def figures_copy(record_pk: int, result: dict[str, Any], computed_at: datetime) -> None:
    """Call it in the transaction that stores the report."""
    whole = result["composite"]
    differences = {entry["key"]: value(entry["smallest_difference"]) for entry in result["criteria"]}
    JudgeRecord.objects.filter(pk=record_pk).update(
        computed_at=computed_at,
        labels=result["labels"],
        kappa=value(whole["kappa"]),
        alpha=value(whole["alpha"]),
        bias=value(whole["bias"]),
        smallest_difference=value(whole["smallest_difference"]),
        criteria_differences={key: found for key, found in differences.items() if found is not None},
        worse_than_people=whole["worse_than_people"],
    )


def value(figure: dict[str, float | None] | None) -> float | None:
    return None if figure is None else figure["value"]
