"""Reads the trajectory table of a Simmer folder, which people often edit by hand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from refinement.interchange.imports.found import Notes
from refinement.interchange.imports.written_scores import is_nothing, unmarked, written_score
from refinement.interchange.simmer.columns import Column, Layout, is_iteration_head, layout_of, plain_head

MOST_ITERATION = 500
MOST_ROWS = 1_000
MOST_HEADS = 10  # tables without criteria that are passed over
LABEL_CHARS = 80
RULER = re.compile(r"[\s|:+-]*-[\s|:+-]*\Z")
CELLS = re.compile(r"(?<!\\)\|")
SEEDS = frozenset({"seed", "baseline", "initial", "start", "original", "seed (0)"})
ITERATION = re.compile(
    r"[→>\s]*(?:(?:iter(?:ation)?|round|step|cycle|pass|gen|version|[irv])\.?)?\s*#?\s*(?P<first>\d{1,6})"
    r"(?:\s*(?:\+|&|and|to|–|-)\s*(?P<last>\d{1,6}))?\s*(?P<rest>\S.*)?\Z",
    re.IGNORECASE | re.ASCII,
)
HARMLESS = re.compile(
    r"[\s(\[*]*(?:(?:seed|baseline|initial|start|best|new best|final|winner|board|current)?"
    r"[\s✓✔★⭐✅🏆\ufe0f]*|[←<].*)[\s)\]*.:]*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table, as written and as read."""

    line: int
    label: str
    iteration: int
    exact: bool  # whether the label is a plain number, not such as 5*
    cells: tuple[str, ...]  # one per criterion, as written
    scores: tuple[Decimal | None, ...]
    composite: str
    stated: Decimal | None
    change: str
    asi: str = ""
    others: tuple[str, ...] = ()  # the columns that are no criterion
    counted: bool = True
    remarks: tuple[tuple[str, str], ...] = ()  # text and reason for notes about its cells


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[Column, ...]
    others: tuple[str, ...]
    rows: tuple[Row, ...]
    lines: frozenset[int]  # the lines of the table in the file

    @property
    def counted(self) -> dict[int, Row]:
        """The row that counts for each iteration."""
        return {row.iteration: row for row in self.rows if row.counted}


def trajectory_table(text: str, notes: Notes) -> Table | None:
    """The first table with iterations and criteria, with all its parts; None if there is none."""
    lines = text.split("\n")
    missed, parsed = Notes(notes.file), list[list[str]]()
    for number in range(1, len(lines) + 1):
        head = header_at(lines, number)
        if not head or not is_iteration_head(head[0]):
            continue
        if len(missed.found) >= MOST_HEADS:
            break
        parsed = parsed or [cells_of(line) for line in lines]
        body = [cells for cells in parsed[number:] if len(cells) == len(head) and label_of(cells[0])]
        seen = Notes(notes.file)
        layout = layout_of(head, body, number, seen)
        if layout is not None:
            notes.found += seen.found
            return _whole(lines, number, layout, notes)
        missed.found += seen.found
    notes.found += missed.found
    return None


def _whole(lines: list[str], head: int, layout: Layout, notes: Notes) -> Table:
    reader = _Reader(lines, head, layout, notes)
    reader.read()
    rows = chosen(reader.rows)
    for row in rows:
        if row.counted:
            for text, why in row.remarks:
                notes.add(row.line, text, why)
    others = tuple(name for _, name in layout.others)
    return Table(layout.columns, others, tuple(rows), frozenset(reader.used))


class _Reader:
    """Collects rows, also behind blank lines, prose and a repeated header."""

    def __init__(self, lines: list[str], head: int, layout: Layout, notes: Notes) -> None:
        self.lines, self.layout, self.notes = lines, layout, notes
        self.names = [plain_head(cell) for cell in header_at(lines, head)]
        self.start, self.used, self.rows = head, {head}, list[Row]()
        self.open, self.other = True, False  # within the table; within another table
        self.bars = lines[head - 1].lstrip().startswith("|")  # or rows have no bar at their start

    def read(self) -> None:
        for number in range(self.start + 1, len(self.lines) + 1):
            line = self.lines[number - 1]
            if not line.strip():
                self.other = False
            elif not cells_of(line) or (self.bars and not line.lstrip().startswith("|")):
                self.open = self.other = False
            elif not self._is_header(number) and not self.other:
                if len(self.rows) >= MOST_ROWS:
                    self.notes.add(number, line, f"Only the first {MOST_ROWS:,} rows are read.")
                    return
                self._line(number, line)

    def _is_header(self, number: int) -> bool:
        """Whether this line is a header; a table with other columns is not read."""
        head = header_at(self.lines, number)
        if not head:
            return False
        self.open = [plain_head(cell) for cell in head] == self.names
        self.other = not self.open
        if self.open:
            self.used.add(number)
        return True

    def _line(self, number: int, line: str) -> None:
        cells = cells_of(line)
        if RULER.match(line):
            if self.open:
                self.used.add(number)
            return
        if not self.open and (len(cells) != self.layout.width or label_of(cells[0]) is None):
            return
        self.open = True
        self.used.add(number)
        row = row_of(cells, number, self.layout, self.notes)
        if row is not None:
            self.rows.append(row)


def chosen(rows: list[Row]) -> list[Row]:
    """The rows, of which one counts for each iteration: the first with a plain number and all scores."""
    best: dict[int, int] = {}
    for place, row in enumerate(rows):
        held = best.get(row.iteration)
        if held is None or _rank(row) > _rank(rows[held]):
            best[row.iteration] = place
    return [replace(row, counted=best[row.iteration] == place) for place, row in enumerate(rows)]


def _rank(row: Row) -> tuple[bool, bool]:
    return row.exact, None not in row.scores


@dataclass(frozen=True, slots=True)
class Label:
    """What the first cell of a row says."""

    iteration: int
    exact: bool
    why: str = ""


def label_of(cell: str) -> Label | None:
    """The iteration in the row's first cell: `3`, `Seed`, `Iter 3`, `3 (best)`, `5*`, `5+6`."""
    plain = unmarked(cell)
    if len(plain) > LABEL_CHARS:
        return None
    match = ITERATION.match("0" if plain.casefold().strip(" ()") in SEEDS else plain)
    if match is None or int(match["last"] or match["first"]) > MOST_ITERATION:
        return None
    if match["last"]:
        return Label(int(match["last"]), True, "A row for several iterations; its scores are the last one's.")
    if match["rest"] and not HARMLESS.match(match["rest"]):
        return Label(int(match["first"]), False, "Read as the row of this iteration number.")
    return Label(int(match["first"]), match["rest"] != "*")


def row_of(cells: list[str], line: int, layout: Layout, notes: Notes) -> Row | None:
    label = label_of(cells[0])
    if label is None:
        words = unmarked(cells[0])
        notes.add(line, f"“{words}”", f"Not an iteration number from 0 to {MOST_ITERATION}; not read.")
        return None
    remarks = [(unmarked(cells[0]), label.why)] if label.why else []
    cells = fitted(cells, layout, remarks)
    written = tuple(cells[place] for place in layout.criteria)
    composite = "" if layout.composite is None else cells[layout.composite]
    return Row(
        line=line,
        label=unmarked(cells[0]),
        iteration=label.iteration,
        exact=label.exact,
        cells=written,
        scores=tuple(scores_of(written, layout, remarks)),
        composite=unmarked(composite),
        stated=number_of(composite, "Composite", remarks),
        change="" if layout.change is None else unmarked(cells[layout.change]),
        asi="" if layout.asi is None or is_nothing(cells[layout.asi]) else unmarked(cells[layout.asi]),
        others=tuple(unmarked(cells[place]) for place, _ in layout.others),
        remarks=tuple(remarks),
    )


def fitted(cells: list[str], layout: Layout, remarks: list[tuple[str, str]]) -> list[str]:
    """As many cells as the header. Missing cells are empty, extra cells are joined to the last."""
    if len(cells) > layout.width:
        why = "The row has more cells than the header; the rest is added to the last cell."
        remarks.append((cells[layout.width], why))
        return [*cells[: layout.width - 1], " | ".join(cells[layout.width - 1 :])]
    if len(cells) < layout.width:
        remarks.append((" | ".join(cells), "The row has fewer cells than the header."))
    return [*cells, *[""] * (layout.width - len(cells))]


def scores_of(
    written: tuple[str, ...], layout: Layout, remarks: list[tuple[str, str]]
) -> Iterator[Decimal | None]:
    for column, cell in zip(layout.columns, written, strict=True):
        yield number_of(cell, column.name, remarks)


def number_of(cell: str, name: str, remarks: list[tuple[str, str]]) -> Decimal | None:
    """The score in the cell. Other text is noted."""
    read = written_score(cell)
    if read is None:
        if not is_nothing(cell):
            remarks.append((f"{name} {unmarked(cell)}", "Not a score."))
        return None
    remarks += [(f"{name} {unmarked(cell)}", why) for why in read.notes]
    return read.value


def header_at(lines: list[str], number: int) -> list[str]:
    """The cells if this line is a header: of iterations, or any with a ruler below it."""
    cells = cells_of(lines[number - 1])
    if not cells or RULER.match(lines[number - 1]):
        return []
    below = lines[number] if number < len(lines) else ""
    ruled = bool(cells_of(below)) and bool(RULER.match(below))
    named = lines[number - 1].lstrip().startswith("|") and is_iteration_head(cells[0])
    return cells if ruled or (named and label_of(cells[0]) is None) else []


def cells_of(line: str) -> list[str]:
    """The cells of a row, with or without bars around it; empty if the line is not a row."""
    plain = line.strip()
    if plain.count("|") < 2:
        return []
    inner = plain[1:] if plain.startswith("|") else plain
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in CELLS.split(inner)]
