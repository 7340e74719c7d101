"""Reads the trajectory table of a Simmer folder, which people often edit by hand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from refinement.interchange.imports.found import Notes
from refinement.interchange.imports.written_scores import is_nothing, unmarked, written_score

MOST_ITERATION = 500
MOST_CRITERIA = 40
MOST_ROWS = 1_000
ITERATION_HEADS = frozenset({"iter", "iteration", "round", "#", "it", "iter."})
COMPOSITE_HEADS = frozenset({"composite", "score", "total", "average", "avg", "mean", "overall"})
CHANGE_HEADS = frozenset({"key change", "change", "changes", "key changes", "notes", "note"})
PRIMARY = re.compile(r"\(\s*primary\s*\)", re.IGNORECASE)
RULER = re.compile(r"[\s|:+-]+\Z")
CELLS = re.compile(r"(?<!\\)\|")
ITERATION = re.compile(r"(?:iter(?:ation)?|round)?\s*#?\s*(\d{1,6})\s*(\S.*)?\Z", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Column:
    """A criterion of the table."""

    name: str
    primary: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table, as written and as read."""

    line: int
    label: str
    iteration: int
    cells: tuple[str, ...]  # one per criterion, as written
    scores: tuple[Decimal | None, ...]
    composite: str
    stated: Decimal | None
    change: str


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    lines: frozenset[int]  # the lines of the table in the file


@dataclass(frozen=True, slots=True)
class _Layout:
    """The meaning of the table's columns."""

    columns: tuple[Column, ...]
    composite: int | None
    change: int | None
    width: int


def trajectory_table(text: str, notes: Notes) -> Table | None:
    """The first table with iterations; None if there is none."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        head = cells_of(line)
        if head and plain_head(head[0]) in ITERATION_HEADS:
            layout = layout_of(head, number, notes)
            return table_below(lines, number, layout, notes) if layout else None
    return None


def layout_of(head: list[str], line: int, notes: Notes) -> _Layout | None:
    """The layout. Criteria are the columns between the iteration and the composite or key change."""
    names = [plain_head(cell) for cell in head]
    composite = next((place for place, name in enumerate(names) if name in COMPOSITE_HEADS and place), None)
    change = next((place for place, name in enumerate(names) if name in CHANGE_HEADS and place), None)
    ends = [place for place in (composite, change) if place is not None]
    end = min(ends, default=len(head))
    columns = tuple(column_of(cell) for cell in head[1:end])
    if not columns or len(columns) > MOST_CRITERIA:
        notes.add(
            line,
            " | ".join(head),
            f"A table needs 1 to {MOST_CRITERIA} criteria between the iteration and the composite.",
        )
        return None
    for place in range(end, len(head)):
        if place not in (composite, change):
            notes.add(line, head[place], "This column is after the composite and is not read as a criterion.")
    return _Layout(columns, composite, change, len(head))


def column_of(cell: str) -> Column:
    plain = PRIMARY.sub("", unmarked(cell)).strip()
    return Column(unmarked(plain)[:120] or "Criterion", primary=bool(PRIMARY.search(cell)))


def table_below(lines: list[str], head: int, layout: _Layout, notes: Notes) -> Table:
    """All rows up to a line that is neither a row nor blank."""
    rows: list[Row] = []
    used = {head}
    for number in range(head + 1, len(lines) + 1):
        line = lines[number - 1]
        if not line.strip():
            continue
        cells = cells_of(line)
        if not cells:
            break
        used.add(number)
        if RULER.match(line):
            continue
        if len(rows) >= MOST_ROWS:
            notes.add(number, line, f"Only the first {MOST_ROWS:,} rows are read.")
            break
        row = row_of(cells, number, layout, notes)
        if row is not None:
            rows.append(row)
    return Table(layout.columns, tuple(rows), frozenset(used))


def row_of(cells: list[str], line: int, layout: _Layout, notes: Notes) -> Row | None:
    label = unmarked(cells[0])
    match = ITERATION.match("0" if label.casefold() == "seed" else label)
    if match is None or int(match[1]) > MOST_ITERATION:
        notes.add(
            line,
            " | ".join(cells),
            f"“{label}” is not an iteration number from 0 to {MOST_ITERATION}.",
        )
        return None
    if match[2]:
        notes.add(line, label, f"“{label}” is read as iteration {int(match[1])}.")
    cells = fitted(cells, line, layout, notes)
    written = tuple(cells[1 : 1 + len(layout.columns)])
    composite = "" if layout.composite is None else cells[layout.composite]
    return Row(
        line=line,
        label=label,
        iteration=int(match[1]),
        cells=written,
        scores=tuple(scores_of(written, line, layout, notes)),
        composite=unmarked(composite),
        stated=number_of(composite, line, "Composite", notes),
        change="" if layout.change is None else unmarked(cells[layout.change]),
    )


def fitted(cells: list[str], line: int, layout: _Layout, notes: Notes) -> list[str]:
    """As many cells as the header. Missing cells are empty, extra cells are joined to the last."""
    if len(cells) > layout.width:
        notes.add(
            line,
            cells[layout.width],
            "The row has more cells than the header; the rest is added to the last cell.",
        )
        return [*cells[: layout.width - 1], " | ".join(cells[layout.width - 1 :])]
    if len(cells) < layout.width:
        notes.add(line, " | ".join(cells), "The row has fewer cells than the header.")
    return [*cells, *[""] * (layout.width - len(cells))]


def scores_of(written: tuple[str, ...], line: int, layout: _Layout, notes: Notes) -> Iterator[Decimal | None]:
    for column, cell in zip(layout.columns, written, strict=True):
        yield number_of(cell, line, column.name, notes)


def number_of(cell: str, line: int, name: str, notes: Notes) -> Decimal | None:
    """The score in the cell. Other text is noted."""
    read = written_score(cell)
    if read is None:
        if not is_nothing(cell):
            notes.add(line, cell, f"{name}: not a score.")
        return None
    for note in read.notes:
        notes.add(line, cell, f"{name}: {note}")
    return read.value


def cells_of(line: str) -> list[str]:
    """The cells of a row; empty if the line is not a row."""
    plain = line.strip()
    if plain.count("|") < 2 or not plain.startswith("|"):
        return []
    inner = plain[1:-1] if plain.endswith("|") and not plain.endswith("\\|") else plain[1:]
    return [cell.strip().replace("\\|", "|") for cell in CELLS.split(inner)]


def plain_head(cell: str) -> str:
    return unmarked(PRIMARY.sub("", cell)).casefold().strip()
