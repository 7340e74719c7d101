"""An experiment's leaderboard as CSV: a row for each configuration, figures with their intervals."""

import csv
import io
from typing import Any

from refinement.interchange.exports.rows import cell

EXPORTS = {
    "leaderboard": "Leaderboard (CSV)",
    "runs": "Every run (CSV)",
    "json": "All figures (JSON)",
    "md": "Report (Markdown)",
}
FIGURES = (
    "composite", "mean_r1", "criteria_rate", "pass_rate", "best", "rounds", "tokens", "seconds", "cost",
)  # fmt: skip
COUNTS = ("runs", "done", "unscored", "errors", "missing")
DIFFERENCE = ("difference", "difference_low", "difference_high", "verdict")


def leaderboard_csv(figures: dict[str, Any]) -> str:
    """The file. Names are escaped so that none is a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    ends = [f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")]
    writer.writerow(["configuration", "name", "judge", *COUNTS, *ends, *DIFFERENCE])
    for entry in figures["configurations"]:
        values: list[object] = [entry["letter"], cell(entry["name"]), cell(entry.get("judge", ""))]
        values += [entry.get(count, "") for count in COUNTS]
        for key in FIGURES:
            figure = entry.get(key) or {}
            values += [figure.get(end, "") for end in ("value", "low", "high")]
        against = entry.get("against_baseline") or {}
        values += [against.get(key, "") for key in ("difference", "low", "high", "verdict")]
        writer.writerow(values)
    return out.getvalue()
