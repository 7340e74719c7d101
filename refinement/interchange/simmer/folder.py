"""Converts a Simmer folder to a run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from refinement.engine.profiles import SIMMER_SCALE, simmer_rubric
from refinement.engine.types import Rubric, Scale
from refinement.interchange.imports.foreign_runs import (
    ForeignRound,
    ForeignRun,
    criteria_of,
    document_of,
    imported_name,
    rounds_fitted,
)
from refinement.interchange.imports.found import FoundRun, Note, Notes, SourceFile, key_of
from refinement.interchange.imports.written_scores import is_nothing
from refinement.interchange.simmer.files import TRAJECTORY, Folder, sorted_files, title_of
from refinement.interchange.simmer.stated import best_contradictions, stated_of
from refinement.interchange.simmer.table import Row, Table, trajectory_table
from refinement.judging.parsing.line_rung import read_lines

LEADING_NUMBER = re.compile(r"\s*(-?\d{1,4}(?:\.\d{1,4})?)")


def simmer_run(folder_name: str, files: Sequence[SourceFile]) -> FoundRun:
    """The folder as one run. The notes say what could not be read."""
    folder = sorted_files(folder_name, files)
    notes = Notes(folder.path(TRAJECTORY))
    if folder.trajectory:
        table = trajectory_table(folder.trajectory, notes)
        if table is None:
            notes.add(
                0, "", "No table of iterations found, with a header such as | Iter | Clarity | Composite |."
            )
    else:
        table = None
        notes.add(0, "", "trajectory.md is missing, so only scores from the judgments are imported.")
    folder.notes += notes.found
    title = title_of(folder)
    name = folder_name or f"Simmer files of “{title}”"
    found = FoundRun("simmer", name, title, key_of("simmer", folder.texts))
    if table is None and not folder.candidates:
        folder.notes.append(
            Note(
                folder_name or "the files",
                0,
                "",
                "Nothing to import: there is no table and no text.",
            )
        )
    else:
        _fill(found, folder, table)
    found.notes = sorted(folder.notes, key=lambda note: (note.file, note.line))
    return found


def _fill(found: FoundRun, folder: Folder, table: Table | None) -> None:
    numbers = [*folder.candidates, *(row.iteration for row in table.rows)] if table else [*folder.candidates]
    if not numbers:
        folder.note(TRAJECTORY, "Nothing to import: the table is empty and there is no text.")
        return
    first, last = min(numbers), max(numbers)
    rubric = rounds_fitted(rubric_of(table, folder), rounds=last - first + 1)
    rounds = [round_of(number, first, rubric, folder, table) for number in range(first, last + 1)]
    foreign = ForeignRun(rubric=rubric, rounds=rounds, title=found.title)
    if rounds[0].origin == "seed" and rounds[0].candidate:
        foreign.seed = rounds[0].candidate
    foreign.stated = stated_of(folder, table, first)
    found.document = document_of(foreign)
    best_contradictions(foreign, found.document, folder, first)
    found.stated = foreign.stated


def rubric_of(table: Table | None, folder: Folder) -> Rubric:
    """The Simmer rubric with the table's criteria. Decimals are allowed if the table has any."""
    columns = table.columns if table else ()
    names = [column.name for column in columns] or ["Quality"]
    if sum(column.primary for column in columns) > 1:
        folder.note(TRAJECTORY, "Two criteria are marked (PRIMARY); the first one is used.")
    values = [score for row in table.rows for score in row.scores if score is not None] if table else []
    scale = (
        SIMMER_SCALE
        if all(value == value.to_integral_value() for value in values)
        else Scale(SIMMER_SCALE.minimum, SIMMER_SCALE.maximum)
    )
    return replace(
        simmer_rubric(),
        name=imported_name(names),
        purpose="Created for an import: the criteria of a Simmer folder.",
        criteria=criteria_of(names, [column.primary for column in columns]),
        scale=scale,
        artifact_type="",
    )


def round_of(number: int, first: int, rubric: Rubric, folder: Folder, table: Table | None) -> ForeignRound:
    """The iteration as a round, from its candidate, its first table row and its judgment."""
    made = ForeignRound(number - first + 1, candidate=folder.candidates.get(number))
    if number == 0:
        made.origin = "seed"
    elif number == first:
        made.origin = "draft"
    row = next((row for row in table.rows if row.iteration == number), None) if table else None
    if number not in folder.candidates:
        scores = "the table has its scores" if row else "the table has no row for it"
        why = f"Iteration {number} has no text; {scores}. It is imported without text."
        folder.note(f"iteration-{number}-candidate.md", why)
    if row is not None:
        made.stated = row.stated
        made.change = change_of(row)
        made.scores = row_scores(row, rubric, folder)
    elif table is not None and number in folder.candidates:
        folder.note(TRAJECTORY, f"The table has no row for iteration {number}; it is unscored.")
    if number in folder.judgments:
        add_judgment(made, rubric, folder, number)
    return made


def change_of(row: Row) -> str:
    """The row's key change; empty for the starting text, which changed nothing."""
    is_seed = row.iteration == 0 and row.change.strip(" .").casefold() == "seed"
    return "" if is_seed or is_nothing(row.change) else row.change


def row_scores(row: Row, rubric: Rubric, folder: Folder) -> dict[str, Decimal] | None:
    """The scores of the row by key; None if one is missing or outside the scale."""
    notes = Notes(folder.path(TRAJECTORY))
    scores: dict[str, Decimal] = {}
    for criterion, cell, score in zip(rubric.criteria, row.cells, row.scores, strict=True):
        if score is None:
            notes.add(row.line, cell, f"{criterion.name} has no score, so iteration {row.label} is unscored.")
        elif not rubric.scale.minimum <= score <= rubric.scale.maximum:
            why = f"{criterion.name}: {score:f} is outside 1 to 10, so iteration {row.label} is unscored."
            notes.add(row.line, cell, why)
        else:
            if score != score.to_integral_value():
                notes.add(
                    row.line,
                    cell,
                    f"{criterion.name}: Simmer uses whole numbers; {score:f} is imported as it is.",
                )
            scores[criterion.key] = score
    folder.notes += notes.found
    return scores if len(scores) == len(rubric.criteria) else None


def add_judgment(made: ForeignRound, rubric: Rubric, folder: Folder, number: int) -> None:
    """Adds the judgment of an iteration. Its scores are used only if the table has none."""
    base, text = folder.judgments[number]
    notes = Notes(folder.path(base))
    read = read_lines(text, rubric)
    if read is None:
        notes.add(0, "", "No scores found; the judgment is not imported.")
    else:
        _take_judgment(made, rubric, read, notes)
    folder.notes += notes.found


def _take_judgment(made: ForeignRound, rubric: Rubric, read: Mapping[str, object], notes: Notes) -> None:
    criteria = read["criteria"]
    assert isinstance(criteria, dict)
    scores: dict[str, Decimal] = {}
    for criterion in rubric.criteria:
        entry = criteria.get(criterion.key, {})
        made.words[criterion.key] = (str(entry.get("reasoning", "")), str(entry.get("improvement", "")))
        number = LEADING_NUMBER.match(str(entry.get("score", "")))
        if number is None:
            continue
        scores[criterion.key] = Decimal(number[1])
        stated = (made.scores or {}).get(criterion.key)
        if stated is not None and stated != scores[criterion.key]:
            notes.add(
                0,
                f"{criterion.name}: {number[1]}",
                f"The judgment has {number[1]}, the table {stated:f}; the table is used.",
            )
    made.asi = str(read.get("asi", ""))
    issues = read.get("issues", [])
    made.issues = [str(issue) for issue in issues] if isinstance(issues, list) else []
    in_range = [score for score in scores.values() if rubric.scale.minimum <= score <= rubric.scale.maximum]
    if made.scores is None and len(in_range) == len(rubric.criteria):
        made.scores = scores
        notes.add(0, "", "The table has no scores for this iteration; those of the judgment are used.")
