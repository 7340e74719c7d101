"""The values stated in a trajectory, and where they contradict its scores."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from refinement.engine.scoring import best_round, shown
from refinement.interchange.exports.figures import history_of
from refinement.interchange.imports.document import RunDocument
from refinement.interchange.imports.foreign_runs import ForeignRun
from refinement.interchange.imports.written_scores import agrees
from refinement.interchange.simmer.files import RESULT, TRAJECTORY, Folder
from refinement.interchange.simmer.table import Row, Table

BEST_LINE = re.compile(r"[\s>*_#-]*best\b[^:|]{0,80}:", re.IGNORECASE)
ITERATION_WORD = re.compile(r"iter(?:ation)?\s*#?\s*(\d{1,4})", re.IGNORECASE)
OUT_OF_TEN = re.compile(r"(\d{1,2}(?:\.\d{1,4})?)\s*/\s*10\b")
MOST_REMARKS = 100_000
MOST_CHANGE = 2_000


@dataclass(frozen=True, slots=True)
class BestLine:
    """A line of the trajectory that names the best iteration."""

    line: int
    text: str
    iteration: int | None
    score: Decimal | None


def best_lines(text: str, used: frozenset[int]) -> list[BestLine]:
    """The lines that name a best iteration, without table rows and prose."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if number in used or not BEST_LINE.match(line):
            continue
        plain = line.replace("*", "").strip()[:400]
        iteration, score = ITERATION_WORD.search(plain), OUT_OF_TEN.search(plain)
        found.append(
            BestLine(
                number,
                plain,
                int(iteration[1]) if iteration else None,
                Decimal(score[1]) if score else None,
            )
        )
    return found


def stated_of(folder: Folder, table: Table | None, first: int) -> dict[str, Any]:
    """The table and the lines around it, unchanged."""
    used = table.lines if table else frozenset()
    best = best_lines(folder.trajectory, used)
    named = used | {entry.line for entry in best}
    lines = enumerate(folder.trajectory.split("\n"), 1)
    rest = [(number, line) for number, line in lines if number not in named]
    note_remarks(folder, rest)
    remarks = "\n".join(line for _, line in rest if not line.startswith("# "))
    remarks = re.sub(r"\n{3,}", "\n\n", remarks).strip()
    return {
        "criteria": column_names(table) if table else [],
        "rows": stated_rows(folder, table, first) if table else [],
        "best": [
            {
                "line": entry.line,
                "text": entry.text,
                "round": None if entry.iteration is None else entry.iteration - first + 1,
                "score": None if entry.score is None else str(entry.score),
            }
            for entry in best
        ],
        "remarks": remarks[:MOST_REMARKS],
        "contradictions": [],
    }


def note_remarks(folder: Folder, rest: list[tuple[int, str]]) -> None:
    """Adds a note that the text around the table is imported as remarks."""
    written = [(number, line) for number, line in rest if line.strip() and not line.startswith("# ")]
    if written:
        count = "This line is" if len(written) == 1 else f"{len(written)} lines starting here are"
        why = f"{count} imported as remarks, without scores."
        folder.note(TRAJECTORY, why, *written[0])


def column_names(table: Table) -> list[str]:
    return [f"{column.name}{' (PRIMARY)' if column.primary else ''}" for column in table.columns]


def stated_rows(folder: Folder, table: Table, first: int) -> list[dict[str, Any]]:
    """Every row as written. If an iteration has several rows, the first is used."""
    rows: list[dict[str, Any]] = []
    counted: set[int] = set()
    for row in table.rows:
        again = row.iteration in counted
        if again:
            why = f"Iteration {row.iteration} already has a row; this one is shown but not used."
            folder.note(TRAJECTORY, why, row.line, row.label)
        rows.append(stated_row(row, first) | {"counted": not again})
        counted.add(row.iteration)
    return rows


def stated_row(row: Row, first: int) -> dict[str, Any]:
    return {
        "label": row.label,
        "round": row.iteration - first + 1,
        "line": row.line,
        "scores": list(row.cells),
        "composite": row.composite,
        "change": row.change[:MOST_CHANGE],
    }


def best_contradictions(foreign: ForeignRun, document: RunDocument, folder: Folder, first: int) -> None:
    """Adds contradictions between the scores and the best iteration in the file or result.md."""
    contradictions, rubric = foreign.stated["contradictions"], foreign.rubric
    best = best_round(rubric, history_of(document, rubric).rounds)
    computed = "there is no best round"
    if best is not None and best.assessment is not None:
        composite = shown(best.assessment.composite, rubric.policy)
        computed = f"it is {iteration_name(best.number, first)} ({composite})"
    composites = {entry.number: entry.composite for entry in document.rounds}
    for entry in foreign.stated["best"]:
        number = entry["round"]
        if number is None:
            continue
        name, score = iteration_name(number, first), composites.get(number)
        if best is None or number != best.number:
            contradictions.append(f"Line {entry['line']} names {name} as best; by the scores {computed}.")
        if entry["score"] is not None and score is not None and not agrees(Decimal(entry["score"]), score):
            value = shown(score, rubric.policy)
            contradictions.append(
                f"Line {entry['line']} states {entry['score']} for {name}; its scores give {value}."
            )
    contradictions += result_contradictions(folder, best.number if best else None, first)


def result_contradictions(folder: Folder, best: int | None, first: int) -> list[str]:
    if folder.result is None:
        return []
    result = folder.result.strip()
    same = [
        number - first + 1 for number, text in sorted(folder.candidates.items()) if text.strip() == result
    ]
    if not same:
        return [f"The text of {RESULT} is not one of the rounds' texts."]
    if best is None or best in same:
        return []
    return [
        f"The text of {RESULT} is that of {iteration_name(same[0], first)}; "
        f"by the scores the best is {iteration_name(best, first)}."
    ]


def iteration_name(number: int, first: int) -> str:
    """The round's name in the folder, where `first` is the number of the first iteration."""
    return f"iteration {number - 1 + first}"
