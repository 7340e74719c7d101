"""The figures as plain tables, for exports and the API."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from refinement.interchange.exports.rows import Cell
from refinement.selectors.failures.categories import CategoryFigures
from refinement.selectors.failures.criteria import CriterionFigures
from refinement.selectors.failures.others import CheckFigures, Counted, InventedName

Table = list[dict[str, Cell]]


def decimal(value: float | None, places: int = 3) -> Decimal | None:
    return None if value is None else round(Decimal(str(value)), places)


def criteria_table(figures: Sequence[CriterionFigures]) -> Table:
    rows: Table = []
    for entry in figures:
        row: dict[str, Cell] = {
            "criterion": entry.name,
            "runs": entry.runs,
            "lowest": entry.lowest,
            "lowest_share": decimal(entry.lowest_share),
            "below_first": decimal(entry.first_share),
            "below_last": decimal(entry.last_share),
            "lift": decimal(entry.lift.mean) if entry.lift else None,
            "lift_low": decimal(entry.lift.low) if entry.lift else None,
            "lift_high": decimal(entry.lift.high) if entry.lift else None,
        }
        row |= {f"mean_round_{part.number}": decimal(part.mean, 2) for part in entry.rounds}
        rows.append(row)
    return rows


def categories_table(figures: Sequence[CategoryFigures]) -> Table:
    return [category_row(entry) for entry in figures]


def category_row(entry: CategoryFigures) -> dict[str, Cell]:
    return {
        "category": entry.name,
        "criterion": entry.criterion,
        "issues": entry.issues,
        "runs": entry.having,
        "scored": entry.scored,
        "share": decimal(entry.share),
        "runs_without_score": entry.elsewhere,
        "trend": entry.trend,
        "score": decimal(entry.score, 2),
        "followed": entry.followed,
        "fixed": entry.fixed,
        "came_back": entry.came_back,
        "fixed_share": decimal(entry.fixed_share),
        "note": entry.row.note if entry.row else "",
    }


def checks_table(figures: Sequence[CheckFigures]) -> Table:
    return [
        {
            "check": entry.name,
            "key": entry.key,
            "severity": entry.severity,
            "runs": entry.runs,
            "fixed_share": decimal(entry.fixed_share),
            "only_reason": entry.only,
        }
        for entry in figures
    ]


def names_table(figures: Sequence[InventedName]) -> Table:
    return [
        {
            "name": f"{entry.name}()",
            "runs": len(entry.runs),
            "points": entry.points,
            "writers": entry.producer,
        }
        for entry in figures
    ]


def counts_table(kind: str, figures: Sequence[Counted]) -> Table:
    return [
        {kind: entry.label, "outcome": entry.outcome, "count": entry.count, "share": decimal(entry.share)}
        for entry in figures
    ]


def numbers(row: dict[str, Cell]) -> dict[str, Any]:
    """With floats for decimals, for JSON."""
    return {key: float(value) if isinstance(value, Decimal) else value for key, value in row.items()}
