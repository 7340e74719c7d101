"""An experiment's runs as CSV, one line each, to compute with elsewhere."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from refinement.interchange.exports.rows import cell

COLUMNS = (
    "task", "task_type", "letter", "configuration", "baseline", "repeat", "state", "run", "r1",
    "criteria_met", "criteria_total", "criteria_rate", "composite", "passed", "best", "rounds", "tokens",
    "seconds", "cost", "problem",
)  # fmt: skip


def cells_csv(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The file in pieces. Cells are escaped so that none is a formula."""
    yield line(COLUMNS)
    for row in rows:
        yield line([text_of(row[name]) for name in COLUMNS])


def line(cells: Sequence[str]) -> str:
    file = io.StringIO()
    csv.writer(file).writerow(cells)
    return file.getvalue()


def text_of(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(round(value, 6))
    return str(cell(value))  # type: ignore[arg-type]
