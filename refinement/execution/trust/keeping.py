"""Copies a judge's figures from its report to its row, for lists, charts, gates and stop rules."""

from datetime import datetime
from typing import Any

from refinement.models import JudgeRecord


def figures_copy(record_pk: int, result: dict[str, Any], computed_at: datetime) -> bool:
    """Whether what experiments show has changed. Call it in the transaction that stores the report."""
    whole = result["composite"]
    differences = {entry["key"]: value(entry["smallest_difference"]) for entry in result["criteria"]}
    record = JudgeRecord.objects.filter(pk=record_pk)
    before = record.values_list("smallest_difference", "kappa").first()
    record.update(
        computed_at=computed_at,
        labels=result["labels"],
        kappa=value(whole["kappa"]),
        alpha=value(whole["alpha"]),
        bias=value(whole["bias"]),
        smallest_difference=value(whole["smallest_difference"]),
        criteria_differences={key: found for key, found in differences.items() if found is not None},
        worse_than_people=whole["worse_than_people"],
    )
    return before != (value(whole["smallest_difference"]), value(whole["kappa"]))


def value(figure: dict[str, float | None] | None) -> float | None:
    return None if figure is None else figure["value"]
