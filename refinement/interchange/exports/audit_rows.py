"""Exports the audit log as CSV."""

import csv
from collections.abc import Iterable, Iterator, Sequence

from refinement.interchange.exports.rows import Cell, Line, cell

COLUMNS = ("when", "who", "email", "from", "project", "action", "object", "number", "before", "after")


def audit_csv(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """One line per entry. Cells are escaped so that none is a formula."""
    writer = csv.writer(Line())
    yield writer.writerow(COLUMNS)
    for row in rows:
        yield writer.writerow([cell(value) for value in row])
