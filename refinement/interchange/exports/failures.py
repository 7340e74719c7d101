"""Exports what fails most, as CSV and as a Markdown report."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from refinement.interchange.exports.rows import Cell, Line, cell

# Markdown's own characters, and what starts HTML. Names and issues are model text.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|!~&])")


def failures_csv(rows: Iterable[Mapping[str, Cell]]) -> Iterator[str]:
    """One line per row, with the first row's columns. Cells are escaped so that none is a formula."""
    writer = csv.writer(Line())
    columns: list[str] = []
    for row in rows:
        if not columns:
            columns = list(row)
            yield writer.writerow(columns)
        yield writer.writerow([cell(row.get(name)) for name in columns])


def failures_markdown(
    title: str, about: Sequence[str], tables: Sequence[tuple[str, Sequence[Mapping[str, Cell]]]]
) -> Iterator[str]:
    """A report: the answer, then a table for each subject that has rows."""
    yield f"# {plain(title)}\n"
    for line in about:
        yield f"\n{plain(line)}\n"
    for heading, rows in tables:
        if not rows:
            continue
        columns = list(rows[0])
        yield f"\n## {plain(heading)}\n\n| {' | '.join(map(plain, columns))} |\n|{' --- |' * len(columns)}\n"
        for row in rows:
            yield f"| {' | '.join(plain(shown(row.get(name))) for name in columns)} |\n"


def shown(value: Cell) -> str:
    return "" if value is None else str(value)


def plain(text: str) -> str:
    """The text on one line, without markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
