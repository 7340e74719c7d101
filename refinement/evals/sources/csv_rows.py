"""Reads CSV files with a header as rows that know their lines."""

import csv
from dataclasses import dataclass

from refinement.interchange.rubrics.yaml_reading import BadFile, Problem

MOST_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the cells by column."""

    line: int
    cells: dict[str, str]


def csv_rows(text: str, *, delimiter: str = ",") -> list[Row]:
    """The rows. Raises BadFile if the header or a row cannot be read."""
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    try:
        header = [name.strip() for name in next(reader, [])]
        if not any(header):
            raise BadFile([Problem(1, "The CSV file has no header row.")])
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                padded = [*cells, *[""] * len(header)]
                rows.append(Row(line, dict(zip(header, padded, strict=False))))
            line = reader.line_num + 1
            if len(rows) > MOST_ROWS:
                raise BadFile([Problem(line, f"The file has more than {MOST_ROWS:,} rows.")])
    except csv.Error as error:
        raise BadFile([Problem(reader.line_num, f"This is not valid CSV: {error}.")]) from None
    return rows
