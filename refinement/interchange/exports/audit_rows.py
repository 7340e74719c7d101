"""The audit log as a table for spreadsheets."""

import csv
from collections.abc import Iterable, Iterator, Sequence

from refinement.interchange.exports.rows import Cell, cell

COLUMNS = ("when", "who", "mail address", "from", "project", "action", "object", "number", "before", "after")


class _Line:
    """Takes what a csv writer writes, and gives it away."""

    def write(self, text: str) -> str:
        return text


def audit_csv(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """One line an entry; no cell of it can be a formula."""
    writer = csv.writer(_Line())
    yield writer.writerow(COLUMNS)
    for row in rows:
        yield writer.writerow([cell(value) for value in row])
