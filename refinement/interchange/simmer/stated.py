"""The values stated in a trajectory, as written, for the run's page and exports."""

import re
from collections.abc import Sequence
from typing import Any

from refinement.interchange.simmer.best import BestLine
from refinement.interchange.simmer.brief import Brief
from refinement.interchange.simmer.files import Folder
from refinement.interchange.simmer.sections import Sections
from refinement.interchange.simmer.table import Row, Table

MOST_REMARKS = 100_000
MOST_CHANGE = 2_000


def stated_of(
    folder: Folder,
    table: Table | None,
    best: Sequence[BestLine],
    sections: Sections,
    brief: Brief,
    numbers: range,
) -> dict[str, Any]:
    """The table and the lines around it, unchanged."""
    first = numbers.start
    details = {number: _detail(folder, sections, number) for number in numbers}
    return {
        "criteria": column_names(table) if table else [],
        "columns": list(table.others) if table else [],
        "rows": stated_rows(folder, table, first) if table else [],
        "best": [entry.stated(first) for entry in best],
        "facts": [list(fact) for fact in brief.facts],
        "details": [
            {"round": number - first + 1, "label": f"Iteration {number}", "text": text}
            for number, text in details.items()
            if text
        ],
        "remarks": remarks_of(folder, table, best, sections),
        "contradictions": [],
    }


def _detail(folder: Folder, sections: Sections, number: int) -> str:
    parts = (sections.detail(number), folder.evaluations.get(number, "").strip())
    return "\n\n".join(part for part in parts if part)[:MOST_REMARKS]


def remarks_of(folder: Folder, table: Table | None, best: Sequence[BestLine], sections: Sections) -> str:
    """The lines that are nothing else, with a note."""
    used = (table.lines if table else frozenset()) | {entry.line for entry in best} | sections.used
    lines = enumerate(folder.trajectory.split("\n"), 1)
    rest = [(number, line) for number, line in lines if number not in used and not line.startswith("# ")]
    rest = without_empty_headings(rest)
    note_remarks(folder, rest)
    remarks = "\n".join(line for _, line in rest)
    return re.sub(r"\n{3,}", "\n\n", remarks).strip()[:MOST_REMARKS]


def without_empty_headings(rest: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines without headings whose text is all used elsewhere."""
    kept: list[tuple[int, str]] = []
    below = 0  # the level of the heading that follows; 7 if there is text before it
    for number, line in reversed(rest):
        level = len(line) - len(line.lstrip("#")) if line.startswith("#") else 0
        if level and below <= level:
            continue
        below = level or (7 if line.strip(" -*_=`") else below)
        kept.append((number, line))
    return kept[::-1]


def note_remarks(folder: Folder, rest: list[tuple[int, str]]) -> None:
    """Adds a note that the text around the table is imported as remarks."""
    written = [(number, line) for number, line in rest if line.strip(" #-*_=`")]
    if written:
        count = "This line is" if len(written) == 1 else f"{len(written)} lines starting here are"
        why = f"{count} imported as remarks, without scores."
        folder.note(folder.trajectory_name, why, *written[0])


def column_names(table: Table) -> list[str]:
    return [f"{column.name}{' (PRIMARY)' if column.primary else ''}" for column in table.columns]


def stated_rows(folder: Folder, table: Table, first: int) -> list[dict[str, Any]]:
    """Every row as written. If an iteration has several rows, one of them counts."""
    counted = table.counted
    for row in table.rows:
        if not row.counted:
            same = (row.cells, row.composite) == (
                counted[row.iteration].cells,
                counted[row.iteration].composite,
            )
            why = "A repeated row; it is shown but not used." if same else (
                "Another row of an iteration that has one; it is shown but not used."
            )  # fmt: skip
            folder.note(folder.trajectory_name, why, row.line, row.label)
    return [stated_row(row, first) for row in table.rows]


def stated_row(row: Row, first: int) -> dict[str, Any]:
    return {
        "label": row.label,
        "round": row.iteration - first + 1,
        "line": row.line,
        "scores": list(row.cells),
        "composite": row.composite,
        "others": [value[:MOST_CHANGE] for value in row.others],
        "change": row.change[:MOST_CHANGE],
        "counted": row.counted,
    }
